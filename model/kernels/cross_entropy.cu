// SPDX-License-Identifier: MIT

#include "model/kernels/cross_entropy.cuh"
#include "model/kernels/cuda_device.cuh"
#include "model/kernels/launchers.h"

namespace trainbench::kernels {

std::string Launch(const CrossEntropyForwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return CrossEntropyForward(launcher, args);
}

std::string Launch(const CrossEntropyBackwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return CrossEntropyBackward(launcher, args);
}

}  // namespace trainbench::kernels
