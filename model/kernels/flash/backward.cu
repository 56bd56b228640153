// SPDX-License-Identifier: MIT

#include "model/kernels/cuda_device.cuh"
#include "model/kernels/flash/attention.cuh"
#include "model/kernels/launchers.h"

namespace trainbench::kernels {

std::string Launch(const FlashBackwardArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return FlashBackward(launcher, args);
}

}  // namespace trainbench::kernels
