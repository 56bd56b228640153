// SPDX-License-Identifier: MIT
// Data that the host copied to a device and no kernel can have changed since.
//
// A device computes nothing, but LibTorch's Reducer sends the order of its
// buckets through one and uses what it reads back. So small copies are kept
// until the next fill or kernel except NCCL's. The caller holds StreamMutex().

#ifndef TRAINBENCH_TOOLS_NULL_GPU_STREAMS_MESSAGE_H_
#define TRAINBENCH_TOOLS_NULL_GPU_STREAMS_MESSAGE_H_

#include <cstddef>

namespace null_gpu {

void KeepMessage(const void* on_device, const void* from, size_t bytes);

// Returns false if it was not kept.
bool ReadMessage(const void* on_device, void* to, size_t bytes);

void ForgetMessages();

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_MESSAGE_H_
