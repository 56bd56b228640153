// SPDX-License-Identifier: MIT
// CUPTI's activity records.
//
// Times of calls on the host are real. Those of kernels, copies and fills are
// made up: each starts as soon as it is enqueued and the one before it on its
// stream has ended. They are late, because the device's clock is: by 8 to 9 us
// on an H200 (tile-ai/TileOPs pull request 1838).

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

// Whether any kind of record is wanted.
bool IsTracing();

// In the clock that the profiler registered, else nanoseconds of the wall
// clock.
uint64_t TraceNow();

// The thread's external ids, for the call with this correlation. It must come
// before the call's other records: Kineto looks ids up while it reads.
void TraceCorrelation(uint32_t correlation);

// A call of the runtime, or a launch of the driver, that ends now.
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

// The buffers of the profiler, which cupti.cc steers.
class ActivityBuffers {
 public:
  void SetCallbacks(CUpti_BuffersCallbackRequestFunc request,
                    CUpti_BuffersCallbackCompleteFunc complete);
  void Enable(CUpti_ActivityKind kind, bool enabled);
  bool IsEnabled(CUpti_ActivityKind kind);
  void EnableCall(uint32_t cbid, bool enabled);
  bool IsCallEnabled(uint32_t cbid);

  // Hands the buffer back, if there is one.
  void Flush();

  // A record of any of CUPTI's structures.
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

// The bytes from this record to the next one.
size_t RecordBytes(const CUpti_Activity& record);

// As in CUPTI of CUDA 13.0, each registration after the first spoils times:
// of the next kernels, as many as there were registrations before, the records
// have the time of the default clock (pytorch/pytorch issue 192021).
void RegisterTraceClock(CUpti_TimestampCallbackFunc clock);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_TRACE_H_
