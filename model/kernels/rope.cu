// SPDX-License-Identifier: MIT

#include "model/kernels/cuda_device.cuh"
#include "model/kernels/launchers.h"
#include "model/kernels/rope.cuh"

namespace trainbench::kernels {

std::string Launch(const RopeArgs& args, cudaStream_t stream) {
  CudaLauncher launcher(stream);
  return RopeTurn(launcher, args);
}

}  // namespace trainbench::kernels
