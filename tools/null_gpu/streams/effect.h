// SPDX-License-Identifier: MIT
// The effect of an operation on memory of the host and of devices.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_STREAMS_EFFECT_H_
#define TRAINBENCH_TOOLS_NULL_GPU_STREAMS_EFFECT_H_

#include "tools/null_gpu/streams/operation.h"

namespace null_gpu {

// For an operation on a stream of the device; requires StreamMutex(). A device
// holds zeros, except for small copies (effect.cc), or it holds values
// (Settings::values): then kernels without a body do not change memory.
void ApplyToMemory(const Operation& operation, int device);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_EFFECT_H_
