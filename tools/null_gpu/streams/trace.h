// SPDX-License-Identifier: MIT
// CUPTI's activity records.
//
// Times of calls on the host are real. Times of kernels, copies and fills are
// made up: each starts as soon as it is enqueued and its predecessor on the
// stream has ended. They are late, like the clock of a real device: by 8 to 9
// us on an H200 (tile-ai/TileOPs pull request 1838).

#ifndef TRAINBENCH_TOOLS_NULL_GPU_STREAMS_TRACE_H_
#define TRAINBENCH_TOOLS_NULL_GPU_STREAMS_TRACE_H_

#include <cupti.h>

#include <cstdint>

#include "tools/null_gpu/core/counters.h"
#include "tools/null_gpu/streams/operation.h"

namespace null_gpu {

// Returns the time of the clock that the profiler registered, else nanoseconds
// of the wall clock.
uint64_t TraceNow();

// Pushes and pops an id of the profiler on the calling thread.
void PushExternalId(CUpti_ExternalCorrelationKind kind, uint64_t id);
// Returns false if there is none.
bool PopExternalId(CUpti_ExternalCorrelationKind kind, uint64_t* id);

// Records the thread's innermost external id of each kind for the call with
// this correlation. Must precede the call's other records: Kineto looks ids up
// while it reads.
void TraceCorrelation(uint32_t correlation);

// Records a call of the runtime, or a launch of the driver, that ends now.
void TraceCall(const ApiEntry& entry, uint64_t start, uint32_t correlation);

// Where an operation runs.
struct Place {
  int device;
  uint32_t stream;
  uint32_t graph = 0;  // 0 outside of a graph
  uint64_t graph_node = 0;
};

void TraceOperation(const Operation& operation, const Place& place,
                    uint32_t correlation);

// As in CUPTI of CUDA 13.0, each registration after the first spoils times: as
// many of the next kernels as there were earlier registrations get the time of
// the default clock (pytorch/pytorch issue 192021).
void RegisterTraceClock(CUpti_TimestampCallbackFunc clock);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_TRACE_H_
