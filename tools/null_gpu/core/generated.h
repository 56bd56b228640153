// SPDX-License-Identifier: MIT
// What the files that make_stubs.py writes define and call.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_GENERATED_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_GENERATED_H_

#include <cstdint>
#include <map>
#include <string_view>

namespace null_gpu {

// CUPTI's numbers of the functions of the runtime.
const std::map<std::string_view, uint32_t>& Cbids();

struct ErrorWords {
  const char *name, *text;
};
// The errors of the runtime: "cudaErrorMemoryAllocation" and "out of memory".
const std::map<int, ErrorWords>& Errors();

// Counts the call of a function of succeeds.txt and returns success, which is 0
// in all of these libraries. The name must stay valid.
int Succeed(const char* function);

// Reports that the function is missing, and aborts.
[[noreturn]] int Missing(const char* function);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_GENERATED_H_
