// SPDX-License-Identifier: MIT

#include "model/kernels/cuda_device.cuh"
#include "model/kernels/launchers.h"
#include "model/kernels/swiglu.cuh"

namespace trainbench::kernels {

std::string Launch(const SwigluForwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return SwigluForward(launcher, args);
}

std::string Launch(const SwigluBackwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return SwigluBackward(launcher, args);
}

}  // namespace trainbench::kernels
