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

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "tools/null_gpu/core/counters.h"
#include "tools/null_gpu/streams/operation.h"

namespace null_gpu {

// Whether any kind of record is enabled.
bool IsTracing();

// Returns the time of the clock that the profiler registered, else nanoseconds
// of the wall clock.
uint64_t TraceNow();

// Records the thread's external ids for the call with this correlation. Must
// precede the call's other records: Kineto looks ids up while it reads.
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

// The buffers of the profiler, controlled by cupti.cc.
class ActivityBuffers {
 public:
  void SetCallbacks(CUpti_BuffersCallbackRequestFunc request,
                    CUpti_BuffersCallbackCompleteFunc complete);
  void Enable(CUpti_ActivityKind kind, bool enabled);
  bool IsEnabled(CUpti_ActivityKind kind);
  void EnableCall(uint32_t cbid, bool enabled);
  bool IsCallEnabled(uint32_t cbid);

  // Returns the buffer to the profiler, if there is one.
  void Flush();

  // Adds a record of any of CUPTI's structures.
  template <typename Record>
  void Put(const Record& record) {
    PutBytes(&record, sizeof(record));
  }

 private:
  void PutBytes(const void* record, size_t bytes);
  void Complete();

  std::mutex mutex_;
  std::set<CUpti_ActivityKind> kinds_;
  std::set<uint32_t> disabled_calls_;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  uint8_t* buffer_ = nullptr;
  size_t room_ = 0, used_ = 0;
};

ActivityBuffers& GetActivityBuffers();

// Returns the bytes from this record to the next one.
size_t RecordBytes(const CUpti_Activity& record);

// As in CUPTI of CUDA 13.0, each registration after the first spoils times: as
// many of the next kernels as there were earlier registrations get the time of
// the default clock (pytorch/pytorch issue 192021).
void RegisterTraceClock(CUpti_TimestampCallbackFunc clock);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_TRACE_H_
