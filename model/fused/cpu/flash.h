// SPDX-License-Identifier: MIT
// FlashAttention-2 (Dao 2023) for CPUs: neither pass has the [seq, seq] scores
// in memory. Deterministic for a given number of threads.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_FLASH_H_
#define TRAINBENCH_MODEL_FUSED_CPU_FLASH_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// q, k and v are [batch, heads, seq, d_head], all of one dtype, fp32 or bf16,
// and contiguous in d_head. Products accumulate in fp32; bf16 operands are
// multiplied as such where the CPU can, and widened elsewhere.
struct CpuFlashInputs {
  at::Tensor q, k, v;
  bool causal = true;
};

struct CpuFlashResult {
  // [batch, heads, seq, d_head], in memory [batch, seq, heads, d_head], so that
  // merging the heads copies nothing.
  at::Tensor output;
  at::Tensor log_sum_exp;  // fp32 [batch, heads, seq], of scaled scores
};

CpuFlashResult CpuFlashForward(const CpuFlashInputs& inputs);

struct CpuFlashGradients {
  at::Tensor q, k, v;  // in memory like q, k and v
};

// `gradient` is the output's, contiguous in d_head.
CpuFlashGradients CpuFlashBackward(const CpuFlashInputs& inputs,
                                   const CpuFlashResult& result,
                                   const at::Tensor& gradient);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_FLASH_H_
