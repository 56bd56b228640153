// SPDX-License-Identifier: MIT

#include "model/kernels/cuda_device.cuh"
#include "tests/model/kernels/gpu/probes.h"

namespace trainbench::kernels {

template <class P>
cudaError_t RunOnGpu(const ProbeArgs& args) {
  CudaLauncher launcher(nullptr);
  return launcher.Launch<P>({P::kBlocks, P::kMaxThreads, kProbeSharedBytes},
                            args);
}

template cudaError_t RunOnGpu<MmaProbe>(const ProbeArgs& args);
template cudaError_t RunOnGpu<LoadMatrixProbe>(const ProbeArgs& args);
template cudaError_t RunOnGpu<CopyProbe>(const ProbeArgs& args);
template cudaError_t RunOnGpu<ShuffleProbe>(const ProbeArgs& args);
template cudaError_t RunOnGpu<MathProbe>(const ProbeArgs& args);
template cudaError_t RunOnGpu<ReduceProbe>(const ProbeArgs& args);

}  // namespace trainbench::kernels
