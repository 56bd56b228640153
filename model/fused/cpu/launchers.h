// SPDX-License-Identifier: MIT
// The kernels for CPUs, on LibTorch's threads. They take the arguments of our
// CUDA kernels, with pointers to the CPU's memory.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_LAUNCHERS_H_
#define TRAINBENCH_MODEL_FUSED_CPU_LAUNCHERS_H_

#include <cstdint>

#include "model/kernels/cross_entropy.h"
#include "model/kernels/flash/attention.h"
#include "model/kernels/rms_norm.h"
#include "model/kernels/rope.h"
#include "model/kernels/softmax.h"
#include "model/kernels/swiglu.h"

namespace trainbench {

// With any number of columns.
void LaunchOnCpu(const kernels::RmsNormForwardArgs& args);

// Writes no `grad_weight`: the caller sums `partial` [CpuNormParts(rows),
// columns], which is 0 at the start. The order of additions is then the same
// for any number of threads.
void LaunchOnCpu(const kernels::RmsNormBackwardArgs& args);
int64_t CpuNormParts(int64_t rows);

void LaunchOnCpu(const kernels::RopeArgs& args);

void LaunchOnCpu(const kernels::SwigluForwardArgs& args);
void LaunchOnCpu(const kernels::SwigluBackwardArgs& args);

void LaunchOnCpu(const kernels::SoftmaxForwardArgs& args);
void LaunchOnCpu(const kernels::SoftmaxBackwardArgs& args);

// c10::Error names a target that is not in [0, columns).
void LaunchOnCpu(const kernels::CrossEntropyForwardArgs& args);

// Causal only, with heads of any dimension. Products accumulate in fp32. bf16
// operands are multiplied directly if the CPU supports it, and converted to
// fp32 otherwise. Deterministic for a given number of threads.
void LaunchOnCpu(const kernels::FlashForwardArgs& args);
void LaunchOnCpu(const kernels::FlashBackwardArgs& args);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_LAUNCHERS_H_
