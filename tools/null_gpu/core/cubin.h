// SPDX-License-Identifier: MIT
// What the binaries of kernels say of them. The driver reads the same.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_CUBIN_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_CUBIN_H_

#include <cstddef>
#include <string_view>
#include <vector>

namespace null_gpu {

// What a kernel takes of a multiprocessor and of the host.
struct KernelNeeds {
  unsigned registers = 0;         // of a thread
  unsigned most_threads = 1024;   // of a block, __launch_bounds__
  size_t shared_bytes = 0;        // of a block, static
  std::vector<size_t> arguments;  // the bytes of each
};

// In whole warps, as many as a multiprocessor has registers for.
unsigned MostThreads(const KernelNeeds& needs);

// Of a kernel in what nvcc gives to __cudaRegisterFatBinary(). Null where that
// has no code for the profile's devices, or only PTX.
const KernelNeeds* NeedsOf(const void* fat_binary, std::string_view kernel);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_CUBIN_H_
