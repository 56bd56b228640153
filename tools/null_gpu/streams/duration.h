// SPDX-License-Identifier: MIT
// How long an operation takes on a device, predicted from its work.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_STREAMS_DURATION_H_
#define TRAINBENCH_TOOLS_NULL_GPU_STREAMS_DURATION_H_

#include <cstdint>

#include "tools/null_gpu/core/rates.h"
#include "tools/null_gpu/streams/operation.h"

namespace null_gpu {

// Nanoseconds. The operation's accesses must have been located. A kernel
// without other work passes over the memory that its arguments point to, once.
int64_t PredictedNs(const Operation& operation, const Rates& rates);

// The work that the program said its next kernel does, which is then over.
Work TakeStatedWork();

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_DURATION_H_
