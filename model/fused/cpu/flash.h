// SPDX-License-Identifier: MIT
// FlashAttention-2 (Dao 2023) for CPUs: neither pass materializes the [seq,
// seq] scores. Deterministic for a given number of threads.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_FLASH_H_
#define TRAINBENCH_MODEL_FUSED_CPU_FLASH_H_

#include "model/fused/flash.h"

namespace trainbench {

// Products accumulate in fp32. bf16 operands are multiplied directly if the CPU
// supports it, and converted to fp32 otherwise.
FlashResult CpuFlashForward(const FlashInputs& inputs);

// `gradient` is the output's gradient, contiguous in d_head.
FlashGradients CpuFlashBackward(const FlashInputs& inputs,
                                const FlashResult& result,
                                const at::Tensor& gradient);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_FLASH_H_
