// SPDX-License-Identifier: MIT
// Called by the stubs that make_stubs.py writes.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_SUCCEED_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_SUCCEED_H_

namespace null_gpu {

// Counts the call of a function of succeeds.txt and returns success, which is 0
// in all of these libraries. The name must stay valid.
int Succeed(const char* function);

// Reports that the function is missing, and aborts.
[[noreturn]] int Missing(const char* function);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_SUCCEED_H_
