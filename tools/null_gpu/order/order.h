// SPDX-License-Identifier: MIT
// Checks that all accesses to memory are ordered, if Settings::order is set.
//
// Streams run concurrently. Two operations are ordered if they are on the same
// stream, or if an event, the legacy default stream or a wait of the host
// orders them. Each stream, each event and the host have a vector clock; the
// host's threads share one, because they may communicate in any way. Unordered
// operations on the same memory end the process if one of them may write, as
// does memory that is freed too early (free.h).

#ifndef TRAINBENCH_TOOLS_NULL_GPU_ORDER_ORDER_H_
#define TRAINBENCH_TOOLS_NULL_GPU_ORDER_ORDER_H_

#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/order/access.h"
#include "tools/null_gpu/streams/operation.h"

namespace null_gpu {

// Returns all arguments that look like pointers, as if the kernel wrote there.
Accesses AccessesOf(const Kernel& kernel, void** arguments);

// The functions below require StreamMutex().

// Finds the memory of an operation that is being enqueued or recorded, if
// memory is watched.
void LocateAccesses(Operation& operation);

// The functions below do nothing unless order is checked.

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

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_ORDER_ORDER_H_
