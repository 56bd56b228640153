// SPDX-License-Identifier: MIT

#include "model/kernels/cross_entropy.cuh"
#include "model/kernels/cuda_device.cuh"
#include "model/kernels/launchers.h"
#include "model/kernels/rms_norm.cuh"
#include "model/kernels/rope.cuh"
#include "model/kernels/softmax.cuh"
#include "model/kernels/swiglu.cuh"

namespace trainbench::kernels {

std::string Launch(const RmsNormForwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return RmsNormForward(launcher, args);
}

std::string Launch(const RmsNormBackwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return RmsNormBackward(launcher, args);
}

std::string Launch(const RopeArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return RopeTurn(launcher, args);
}

std::string Launch(const SwigluForwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return SwigluForward(launcher, args);
}

std::string Launch(const SwigluBackwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return SwigluBackward(launcher, args);
}

std::string Launch(const SoftmaxForwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return SoftmaxForward(launcher, args);
}

std::string Launch(const SoftmaxBackwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return SoftmaxBackward(launcher, args);
}

std::string Launch(const CrossEntropyForwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return CrossEntropyForward(launcher, args);
}

std::string Launch(const CrossEntropyBackwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return CrossEntropyBackward(launcher, args);
}

}  // namespace trainbench::kernels
