// SPDX-License-Identifier: MIT

#include "model/kernels/cuda_device.cuh"
#include "tests/model/kernels/gpu/probes.cuh"

namespace trainbench::kernels {

template <class P>
std::string RunOnGpu(const ProbeArgs& args) {
  CudaLauncher launcher(nullptr);
  return launcher.Launch<P>({P::kBlocks, P::kMaxThreads, kProbeSharedBytes},
                            args);
}

template std::string RunOnGpu<MmaProbe>(const ProbeArgs& args);
template std::string RunOnGpu<LoadMatrixProbe>(const ProbeArgs& args);
template std::string RunOnGpu<CopyProbe>(const ProbeArgs& args);
template std::string RunOnGpu<ShuffleProbe>(const ProbeArgs& args);
template std::string RunOnGpu<MathProbe>(const ProbeArgs& args);
template std::string RunOnGpu<ReduceProbe>(const ProbeArgs& args);

}  // namespace trainbench::kernels
