// SPDX-License-Identifier: MIT
// Definitions for operations.h and flash.h in a build without CUDA.

#include "model/fused/cuda/flash.h"
#include "model/fused/cuda/operations.h"

#ifndef TRAINBENCH_CUDA

#include <c10/util/Exception.h>

namespace trainbench {
namespace {

[[noreturn]] void NoKernels() {
  TORCH_CHECK(false, "built without CUDA, and so without the GPU kernels");
}

}  // namespace

FusedNormResult AddRmsNormCuda(const at::Tensor&, const at::Tensor&,
                               const at::Tensor&, double, at::ScalarType) {
  NoKernels();
}
NormGradients AddRmsNormBackwardCuda(const at::Tensor&, const at::Tensor&,
                                     const at::Tensor&, const at::Tensor&,
                                     const at::Tensor&, bool) {
  NoKernels();
}
void RotateInPlaceCuda(const at::Tensor&, int64_t, const at::Tensor&,
                       const at::Tensor&) {
  NoKernels();
}
at::Tensor RotateBackCuda(const std::array<at::Tensor, 3>&, const at::Tensor&,
                          const at::Tensor&) {
  NoKernels();
}
at::Tensor SwigluCuda(const at::Tensor&) { NoKernels(); }
at::Tensor SwigluBackwardCuda(const at::Tensor&, const at::Tensor&) {
  NoKernels();
}
void CausalSoftmaxInPlaceCuda(const at::Tensor&, double) { NoKernels(); }
at::Tensor CausalSoftmaxBackwardCuda(const at::Tensor&, const at::Tensor&,
                                     double) {
  NoKernels();
}
at::Tensor CrossEntropyInPlaceCuda(const at::Tensor&, const at::Tensor&, bool) {
  NoKernels();
}
void ScaleInPlaceCuda(const at::Tensor&, const at::Tensor&) { NoKernels(); }

FlashResult CudaFlashForward(const FlashInputs&) { NoKernels(); }
FlashGradients CudaFlashBackward(const FlashInputs&, const FlashResult&,
                                 const at::Tensor&) {
  NoKernels();
}

}  // namespace trainbench

#endif  // TRAINBENCH_CUDA
