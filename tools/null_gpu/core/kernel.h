// SPDX-License-Identifier: MIT
// Kernels by name.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_KERNEL_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_KERNEL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/null_gpu/core/counters.h"
#include "tools/null_gpu/core/cubin.h"
#include "tools/null_gpu/null_gpu.h"

namespace null_gpu {

// A function that runs in place of kernels.
struct Body {
  std::string part;  // of the demangled names of its kernels
  size_t argument_bytes;
  trainbench_null_gpu_body run;
};

constexpr int kMostDevices = 16;

struct Kernel {
  const char* name;  // mangled
  Counter launches;
  // Whether it takes the nanoseconds of its first argument.
  bool spins;
  std::atomic<const Body*> body;                    // null: none
  std::atomic<const KernelNeeds*> needs = nullptr;  // null: not known
  // By device, the dynamic shared memory that cudaFuncSetAttribute() allowed.
  std::array<std::atomic<size_t>, kMostDevices> shared_bytes = {};
};

// Registers a kernel of the program, which the runtime knows by the address of
// its host stub. `name` must stay valid. `fat_binary` as in cubin.h, or null.
void RegisterKernel(const void* host, const char* name,
                    const void* fat_binary = nullptr);

// Returns null for an address that was never registered.
Kernel* FindKernel(const void* host);

// Returns a kernel of a library, created at the first use.
Kernel* NamedKernel(std::string_view name);

// Returns the kernels that were found or named.
std::vector<Kernel*> AllKernels();

// Returns the kernel's needs, or defaults if they are unknown.
const KernelNeeds& NeedsOf(const Kernel* kernel);

// Applies to known and future kernels; the last matching body counts.
void Emulate(const Body& body);

std::string Demangled(const char* name);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_KERNEL_H_
