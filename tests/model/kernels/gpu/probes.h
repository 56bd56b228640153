// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TESTS_MODEL_KERNELS_GPU_PROBES_H_
#define TRAINBENCH_TESTS_MODEL_KERNELS_GPU_PROBES_H_

#include <string>

#include "tests/model/kernels/gpu/probes.cuh"

namespace trainbench::kernels {

inline constexpr int kProbeSharedBytes = 4096;

// Runs the probe P of probes.cuh on the GPU, on the legacy stream. Returns an
// error message, or "".
template <class P>
std::string RunOnGpu(const ProbeArgs& args);

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_TESTS_MODEL_KERNELS_GPU_PROBES_H_
