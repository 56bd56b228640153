// SPDX-License-Identifier: MIT
// What an operation does to memory, of the host and of devices.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_STREAMS_EFFECT_H_
#define TRAINBENCH_TOOLS_NULL_GPU_STREAMS_EFFECT_H_

#include "tools/null_gpu/streams/operation.h"

namespace null_gpu {

// On a stream of the device; it wants StreamMutex() held. A device holds zeros,
// but for messages (message.h), or it holds values (Settings::values): then
// kernels without a body leave memory as it is.
void ApplyToMemory(const Operation& operation, int device);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_EFFECT_H_
