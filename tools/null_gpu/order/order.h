// SPDX-License-Identifier: MIT
// Checks that all accesses to memory are ordered, if Settings::order is set.
//
// Streams run concurrently. Two operations are ordered if they are on the same
// stream, or if an event, the legacy default stream or a wait of the host
// orders them. Each stream, each event and the host have a vector clock; the
// host's threads share one, because they may communicate in any way. Unordered
// operations on the same memory end the process if one of them may write, as
// does memory that is freed before its last access is known to have ended.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_ORDER_ORDER_H_
#define TRAINBENCH_TOOLS_NULL_GPU_ORDER_ORDER_H_

#include <driver_types.h>

#include <cstddef>

#include "tools/null_gpu/streams/operation.h"

namespace null_gpu {

// The functions below require StreamMutex().

// The stream executes the operation.
void OrderOperation(const Operation& operation, Stream& stream);

void OrderEventRecord(Event& event, Stream& stream);
void OrderEventWait(Stream& stream, const Event& event);

// The host has waited, or has queried and found the work done.
void OrderHostAfter(Stream& stream);
void OrderHostAfter(const Event& event);
void OrderHostAfterDevice(int device);

// Checks the nodes of a graph against each other. When the graph runs, its
// nodes are ordered with other work like its stream.
void OrderGraph(const Graph& graph);

// The functions below lock it themselves.

// The memory of a block of LibTorch's caching allocator may now be reused on
// this stream.
void OrderBlockFree(const char* begin, size_t bytes, int device,
                    cudaStream_t stream);

// cudaFree waits for the device.
void OrderFree(const char* begin, size_t bytes, int device);

// cuMemUnmap does not wait.
void OrderUnmap(const char* begin, size_t bytes);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_ORDER_ORDER_H_
