// SPDX-License-Identifier: MIT

#include "tools/null_gpu/streams/activity.h"

#include <atomic>
#include <cstring>
#include <utility>

namespace null_gpu {
namespace {

std::atomic<bool> tracing{false};

size_t Aligned(size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

bool IsTracing() { return tracing.load(std::memory_order_relaxed); }

ActivityBuffers& GetActivityBuffers() {
  static auto* const buffers = new ActivityBuffers;
  return *buffers;
}

void ActivityBuffers::SetCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                   CUpti_BuffersCallbackCompleteFunc complete) {
  const std::lock_guard lock(mutex_);
  request_ = request;
  complete_ = complete;
}

void ActivityBuffers::Enable(CUpti_ActivityKind kind, bool enabled) {
  const std::lock_guard lock(mutex_);
  if (enabled) {
    kinds_.insert(kind);
  } else {
    kinds_.erase(kind);
  }
  tracing = !kinds_.empty();
}

bool ActivityBuffers::IsEnabled(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mutex_);
  return kinds_.contains(kind);
}

void ActivityBuffers::EnableCall(uint32_t cbid, bool enabled) {
  const std::lock_guard lock(mutex_);
  if (enabled) {
    disabled_calls_.erase(cbid);
  } else {
    disabled_calls_.insert(cbid);
  }
}

bool ActivityBuffers::IsCallEnabled(uint32_t cbid) {
  const std::lock_guard lock(mutex_);
  return cbid != 0 && !disabled_calls_.contains(cbid);
}

void ActivityBuffers::Flush() {
  const std::lock_guard lock(mutex_);
  Complete();
}

void ActivityBuffers::Complete() {
  if (buffer_ == nullptr) return;
  complete_(nullptr, 0, std::exchange(buffer_, nullptr), room_, used_);
}

void ActivityBuffers::PutBytes(const void* record, size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (request_ == nullptr || complete_ == nullptr) return;
  const size_t step = Aligned(bytes);
  if (buffer_ != nullptr && used_ + step > room_) Complete();
  if (buffer_ == nullptr) {
    size_t most_records = 0;
    used_ = 0;
    request_(&buffer_, &room_, &most_records);
    if (buffer_ == nullptr || room_ < step) return;
  }
  std::memcpy(buffer_ + used_, record, bytes);
  used_ += step;
}

size_t RecordBytes(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return Aligned(sizeof(CUpti_ActivityKernel10));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return Aligned(sizeof(CUpti_ActivityMemcpy6));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return Aligned(sizeof(CUpti_ActivityMemset4));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return Aligned(sizeof(CUpti_ActivityAPI));
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return Aligned(sizeof(CUpti_ActivityExternalCorrelation));
    default:
      return 0;
  }
}

}  // namespace null_gpu
