// SPDX-License-Identifier: MIT

#include "model/kernels/cuda_device.cuh"
#include "model/kernels/launchers.h"
#include "model/kernels/softmax.cuh"

namespace trainbench::kernels {

std::string Launch(const SoftmaxForwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return SoftmaxForward(launcher, args);
}

std::string Launch(const SoftmaxBackwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return SoftmaxBackward(launcher, args);
}

}  // namespace trainbench::kernels
