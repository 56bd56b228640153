// SPDX-License-Identifier: MIT
// FlashAttention-2 by the kernels of model/kernels/flash.

#ifndef TRAINBENCH_MODEL_FUSED_CUDA_FLASH_H_
#define TRAINBENCH_MODEL_FUSED_CUDA_FLASH_H_

#include "model/fused/flash.h"

namespace trainbench {

// On the current stream. d_head is 16, 32, 64 or 128: c10::Error elsewhere, and
// in a build without CUDA.
FlashResult CudaFlashForward(const FlashInputs& inputs);

// `gradient` is the output's. Blocks add q's gradient up in any order, unless
// LibTorch is asked for deterministic algorithms.
FlashGradients CudaFlashBackward(const FlashInputs& inputs,
                                 const FlashResult& result,
                                 const at::Tensor& gradient);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CUDA_FLASH_H_
