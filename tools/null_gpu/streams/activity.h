// SPDX-License-Identifier: MIT
// The buffers in which CUPTI hands its activity records to a profiler.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_STREAMS_ACTIVITY_H_
#define TRAINBENCH_TOOLS_NULL_GPU_STREAMS_ACTIVITY_H_

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>

namespace null_gpu {

// Whether any kind of record is enabled.
bool IsTracing();

// Controlled by cupti.cc.
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

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_ACTIVITY_H_
