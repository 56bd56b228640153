// SPDX-License-Identifier: MIT
// Kernels that each reach a limit of the device, as the runtime knows them.

#ifndef TRAINBENCH_TESTS_TOOLS_NULL_GPU_LIMITED_KERNELS_H_
#define TRAINBENCH_TESTS_TOOLS_NULL_GPU_LIMITED_KERNELS_H_

namespace null_gpu {

constexpr int kBound = 96;  // threads of BoundedKernel's launch bounds
constexpr int kStaticBytes = 40000;

const void* BoundedKernel();
const void* ManyRegistersKernel();
const void* StaticSharedKernel();

}  // namespace null_gpu

#endif  // TRAINBENCH_TESTS_TOOLS_NULL_GPU_LIMITED_KERNELS_H_
