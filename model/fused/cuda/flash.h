// SPDX-License-Identifier: MIT
// FlashAttention-2 with the kernels of model/kernels/flash.

#ifndef TRAINBENCH_MODEL_FUSED_CUDA_FLASH_H_
#define TRAINBENCH_MODEL_FUSED_CUDA_FLASH_H_

#include "model/fused/flash.h"

namespace trainbench {

// Runs on the current stream. d_head is 16, 32, 64 or 128. Throws c10::Error
// for other values, and in a build without CUDA.
FlashResult CudaFlashForward(const FlashInputs& inputs);

// `gradient` is the output's gradient. Blocks add to q's gradient in any order,
// unless LibTorch's deterministic algorithms are on.
FlashGradients CudaFlashBackward(const FlashInputs& inputs,
                                 const FlashResult& result,
                                 const at::Tensor& gradient);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CUDA_FLASH_H_
