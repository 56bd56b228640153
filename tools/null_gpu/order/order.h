// SPDX-License-Identifier: MIT
// Whether all that touches memory is in order, as Settings::order asks.
//
// Streams run side by side. Two operations are in order if they are on one
// stream, or if an event, the legacy default stream or a wait of the host
// stands between them. Each stream, each event and the host have a vector
// clock; the host's threads share one, for they may tell each other anything.
// Operations on the same memory that are not in order end the process if one of
// them may write, as does memory that is given back too early (free.h).

#ifndef TRAINBENCH_TOOLS_NULL_GPU_ORDER_ORDER_H_
#define TRAINBENCH_TOOLS_NULL_GPU_ORDER_ORDER_H_

#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/order/access.h"
#include "tools/null_gpu/streams/operation.h"

namespace null_gpu {

struct Event;
struct Graph;
struct Stream;

// All that look like pointers, as if the kernel wrote to each of them.
Accesses AccessesOf(const Kernel& kernel, void** arguments);

// The functions below want StreamMutex() held.

// Finds the memory of an operation that is being enqueued or recorded, if
// memory is watched.
void LocateAccesses(Operation& operation);

// Those below do nothing unless order is checked.

// The stream executes the operation.
void OrderOperation(const Operation& operation, Stream& stream);

void OrderEventRecord(Event& event, Stream& stream);
void OrderEventWait(Stream& stream, const Event& event);

// The host has waited, or has asked and been told that all is done.
void OrderHostAfter(Stream& stream);
void OrderHostAfter(const Event& event);
void OrderHostAfterDevice(int device);

// Nodes of a graph, each with the others. When the graph runs, its nodes are in
// order with what is outside of it as its stream is.
void OrderGraph(const Graph& graph);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_ORDER_ORDER_H_
