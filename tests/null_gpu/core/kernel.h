// SPDX-License-Identifier: MIT
// Kernels by name.

#ifndef TRAINBENCH_TESTS_NULL_GPU_CORE_KERNEL_H_
#define TRAINBENCH_TESTS_NULL_GPU_CORE_KERNEL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/null_gpu/core/counters.h"

namespace null_gpu {

struct Kernel {
  const char* name;  // mangled
  Counter launches;
  // Made up. Negative: the first argument of a launch.
  int64_t nanoseconds;
};

// A kernel of the program, which the runtime knows by the address of its stub
// on the host. `name` must stay.
void RegisterKernel(const void* host, const char* name);

// Null for an address that was never registered.
Kernel* FindKernel(const void* host);

// A kernel of a library, made at the first use.
Kernel* NamedKernel(std::string_view name);

// Of those that were found or named.
std::vector<Kernel*> AllKernels();

std::string Demangled(const char* name);

}  // namespace null_gpu

#endif  // TRAINBENCH_TESTS_NULL_GPU_CORE_KERNEL_H_
