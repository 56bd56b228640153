// SPDX-License-Identifier: MIT
// Predicts the time of an operation on a device from its work.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_STREAMS_DURATION_H_
#define TRAINBENCH_TOOLS_NULL_GPU_STREAMS_DURATION_H_

#include <cstdint>

#include "tools/null_gpu/core/rates.h"
#include "tools/null_gpu/streams/operation.h"

namespace null_gpu {

// Returns nanoseconds. Requires LocateAccesses(). A kernel without stated work
// is taken to pass once over the memory that its arguments point to.
int64_t PredictedNs(const Operation& operation, const Rates& rates);

// Returns the work that the program stated for the thread's next kernel, once.
Work TakeStatedWork();

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_DURATION_H_
