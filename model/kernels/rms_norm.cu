// SPDX-License-Identifier: MIT

#include "model/kernels/cuda_device.cuh"
#include "model/kernels/launchers.h"
#include "model/kernels/rms_norm.cuh"

namespace trainbench::kernels {

std::string Launch(const RmsNormForwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return RmsNormForward(launcher, args);
}

std::string Launch(const RmsNormBackwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return RmsNormBackward(launcher, args);
}

}  // namespace trainbench::kernels
