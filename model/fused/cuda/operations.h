// SPDX-License-Identifier: MIT
// The operations of model/fused/cpu on a GPU, with the kernels of
// model/kernels, on the current stream. Arguments and results are the same.
// c10::Error in a build without CUDA.

#ifndef TRAINBENCH_MODEL_FUSED_CUDA_OPERATIONS_H_
#define TRAINBENCH_MODEL_FUSED_CUDA_OPERATIONS_H_

#include <ATen/core/Tensor.h>

#include <array>

#include "model/fused/cpu/operations.h"
#include "model/fused/flash.h"

namespace trainbench {

// At most 8192 columns.
void AddRmsNormCuda(const at::Tensor& residual, const at::Tensor& update,
                    const at::Tensor& weight, double eps,
                    const FusedNormResult& to);
void AddRmsNormBackwardCuda(const at::Tensor& sum_gradient,
                            const at::Tensor& normed_gradient,
                            const at::Tensor& sum,
                            const at::Tensor& inverse_rms,
                            const at::Tensor& weight, NormGradients& to);

void RotateInPlaceCuda(const at::Tensor& qkv, int64_t heads,
                       const at::Tensor& cos, const at::Tensor& sin);
at::Tensor RotateBackCuda(const std::array<at::Tensor, 3>& gradients,
                          const at::Tensor& cos, const at::Tensor& sin);

at::Tensor SwigluCuda(const at::Tensor& gate_value);
at::Tensor SwigluBackwardCuda(const at::Tensor& gradient,
                              const at::Tensor& gate_value);

// d_head is 16, 32, 64 or 128; c10::Error for other values.
FlashResult CudaFlashForward(const FlashInputs& inputs);
// Blocks add to q's gradient in any order, unless LibTorch's deterministic
// algorithms are on.
FlashGradients CudaFlashBackward(const FlashInputs& inputs,
                                 const FlashResult& result,
                                 const at::Tensor& gradient);

void CausalSoftmaxInPlaceCuda(const at::Tensor& scores, double scale);
at::Tensor CausalSoftmaxBackwardCuda(const at::Tensor& gradient,
                                     const at::Tensor& weights, double scale);

// Does not wait for the GPU to check targets: the loss of a target outside the
// vocabulary is NaN.
at::Tensor CrossEntropyInPlaceCuda(const at::Tensor& logits,
                                   const at::Tensor& targets,
                                   bool with_gradient);

// Multiplies the gradient by an fp32 scalar on the GPU. Skips a factor of 1.
void ScaleInPlaceCuda(const at::Tensor& gradient, const at::Tensor& factor);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CUDA_OPERATIONS_H_
