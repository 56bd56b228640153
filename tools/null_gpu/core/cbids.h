// SPDX-License-Identifier: MIT
// CUPTI's numbers of the runtime functions. make_stubs.py generates the table
// from CUPTI's header.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_CBIDS_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_CBIDS_H_

#include <cstdint>
#include <string_view>

namespace null_gpu {

// Returns 0 for a function that CUPTI does not know.
uint32_t FindCbid(std::string_view function);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_CBIDS_H_
