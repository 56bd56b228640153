// SPDX-License-Identifier: MIT
// Inputs and outputs of the FlashAttention-2 kernels (Dao 2023) of each device.

#ifndef TRAINBENCH_MODEL_FUSED_FLASH_H_
#define TRAINBENCH_MODEL_FUSED_FLASH_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// q, k and v are [batch, heads, seq, d_head], all of one dtype, fp32 or bf16,
// and contiguous in d_head.
struct FlashInputs {
  at::Tensor q, k, v;
};

struct FlashResult {
  // [batch, heads, seq, d_head], laid out as [batch, seq, heads, d_head], so
  // that merging the heads needs no copy.
  at::Tensor output;
  at::Tensor log_sum_exp;  // fp32 [batch, heads, seq], of scaled scores

  static FlashResult EmptyFor(const FlashInputs& inputs);
};

struct FlashGradients {
  at::Tensor q, k, v;  // laid out like q, k and v

  static FlashGradients EmptyFor(const FlashInputs& inputs);
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_FLASH_H_
