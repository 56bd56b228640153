// SPDX-License-Identifier: MIT
// Reads the needs of kernels from their binaries, as the driver does.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_CUBIN_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_CUBIN_H_

#include <cstddef>
#include <string_view>
#include <vector>

namespace null_gpu {

// A kernel's use of a multiprocessor, and the sizes of its arguments.
struct KernelNeeds {
  unsigned registers = 0;         // per thread
  unsigned most_threads = 1024;   // per block, __launch_bounds__
  size_t shared_bytes = 0;        // per block, static
  std::vector<size_t> arguments;  // the bytes of each
};

// Returns the threads, in whole warps, that a multiprocessor has registers for.
unsigned MostThreads(const KernelNeeds& needs);

// Finds a kernel in the argument of __cudaRegisterFatBinary(). Returns null if
// that has no code for the profile's devices, or only PTX.
const KernelNeeds* NeedsOf(const void* fat_binary, std::string_view kernel);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_CUBIN_H_
