// SPDX-License-Identifier: MIT
// The runtime: streams and events.

#include <cuda_runtime_api.h>

#include <algorithm>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/order/order.h"
#include "tools/null_gpu/streams/call.h"

namespace null_gpu {
namespace {

cudaError_t MakeStream(cudaStream_t* handle, unsigned flags) {
  const std::lock_guard lock(StreamMutex());
  const bool blocking = (flags & cudaStreamNonBlocking) == 0;
  *handle = NewStream(CurrentDevice(), blocking);
  return cudaSuccess;
}

cudaError_t MakeEvent(cudaEvent_t* handle, unsigned flags) {
  const std::lock_guard lock(StreamMutex());
  *handle = NewEvent((flags & cudaEventDisableTiming) == 0);
  return cudaSuccess;
}

// Streams and events differ in these three functions. The others below are for
// both.

Stream* Find(cudaStream_t handle) { return FindStream(handle); }
Event* Find(cudaEvent_t handle) { return FindEvent(handle); }

cudaError_t CheckCapture(const Stream& stream) {
  return stream.capture == nullptr
             ? CheckImplicit(stream)
             : Invalidate(*stream.capture, cudaErrorStreamCaptureUnsupported);
}
cudaError_t CheckCapture(const Event& event) {
  return event.capture == nullptr
             ? cudaSuccess
             : Invalidate(*event.capture, cudaErrorCapturedEvent);
}

int64_t EndOf(const Stream& stream) {
  return IsLegacy(stream) ? StartTime(stream) : stream.ready_ns;
}
int64_t EndOf(const Event& event) {
  return event.recorded ? event.ready_ns : 0;
}

// Returns why the host may not query the stream or event now.
template <typename Handle>
cudaError_t Check(Handle handle) {
  {
    const std::lock_guard lock(StreamMutex());
    auto* const found = Find(handle);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = CheckCapture(*found)) return error;
  }
  return CheckUnsafe();
}

// Returns when the work is done.
template <typename Handle>
int64_t Ready(Handle handle) {
  const std::lock_guard lock(StreamMutex());
  const auto* const found = Find(handle);
  return found != nullptr ? EndOf(*found) : 0;
}

// Records that the host knows the work to be done.
template <typename Handle>
cudaError_t Done(Handle handle) {
  const std::lock_guard lock(StreamMutex());
  if (auto* const found = Find(handle)) OrderHostAfter(*found);
  return cudaSuccess;
}

template <typename Handle>
cudaError_t Query(Handle handle) {
  return Ready(handle) <= NowNs() ? Done(handle) : cudaErrorNotReady;
}

template <typename Handle>
cudaError_t Synchronize(Handle handle) {
  if (const cudaError_t error = Check(handle)) return error;
  GetCounters().waits.Add();
  WaitFor([&] { return Ready(handle); });
  const cudaError_t error = StickyError();
  return error == cudaSuccess ? Done(handle) : error;
}

Operation OfEvent(Operation::Kind kind, Event& event) {
  Operation operation;
  operation.kind = kind;
  operation.event = &event;
  return operation;
}

cudaError_t RecordEvent(Event* event, Stream& stream, unsigned flags,
                        bool never_ends) {
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  const Operation record = OfEvent(Operation::Kind::kEventRecord, *event);
  if (stream.capture == nullptr) {
    if (const cudaError_t error = CheckImplicit(stream)) return error;
    event->capture = nullptr;
    Execute(record, stream);
    if (never_ends) event->ready_ns = kForever;
    return cudaSuccess;
  }
  if ((flags & cudaEventRecordExternal) != 0) return Record(record, stream);
  if (stream.capture->invalidated) return cudaErrorStreamCaptureInvalidated;
  event->capture = stream.capture;
  event->nodes = stream.tail;
  return cudaSuccess;
}

cudaError_t RecordEvent(cudaEvent_t event, cudaStream_t handle,
                        unsigned flags) {
  const Fault fault = Inject("event_record");
  if (fault.error != cudaSuccess) return fault.error;
  return WithStream(handle, [&](Stream& stream) {
    return RecordEvent(FindEvent(event), stream, flags, fault.never);
  });
}

cudaError_t WaitEvent(Stream& stream, Event* event, unsigned flags) {
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  if (event->capture != nullptr) return JoinCapture(stream, *event);
  const Operation wait = OfEvent(Operation::Kind::kEventWait, *event);
  if (stream.capture == nullptr) {
    Execute(wait, stream);
    return cudaSuccess;
  }
  if ((flags & cudaEventWaitExternal) != 0) return Record(wait, stream);
  if (!event->recorded) return cudaSuccess;
  return Invalidate(*stream.capture, cudaErrorStreamCaptureIsolation);
}

cudaError_t Elapsed(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  const std::lock_guard lock(StreamMutex());
  const Event* const start = FindEvent(from);
  const Event* const end = FindEvent(to);
  for (const Event* event : {start, end}) {
    if (event == nullptr || !event->timed || !event->recorded) {
      return cudaErrorInvalidResourceHandle;
    }
    if (event->capture != nullptr) return cudaErrorCapturedEvent;
  }
  if (std::max(start->ready_ns, end->ready_ns) > NowNs()) {
    return cudaErrorNotReady;
  }
  *milliseconds = static_cast<float>(end->ready_ns - start->ready_ns) * 1e-6F;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return Call([&] { return MakeStream(stream, cudaStreamDefault); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                         int) {
  return Call([&] { return MakeStream(stream, flags); });
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return StreamCall(handle, [](Stream& stream) {
    if (stream.capture != nullptr) {
      return Invalidate(*stream.capture, cudaErrorStreamCaptureUnsupported);
    }
    return DeleteStream(&stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return Call([&] {
    const cudaError_t error = Check(stream);
    return error == cudaSuccess ? Query(stream) : error;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return Call([&] { return Synchronize(stream); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event,
                                unsigned flags) {
  return StreamCall(handle, [&](Stream& stream) {
    return WaitEvent(stream, FindEvent(event), flags);
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return Call([&] { return MakeEvent(event, cudaEventDefault); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return Call([&] { return MakeEvent(event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return Call([&] {
    const std::lock_guard lock(StreamMutex());
    Event* const event = FindEvent(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    DeleteEvent(event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return Call(
      [&] { return RecordEvent(event, stream, cudaEventRecordDefault); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                     unsigned flags) {
  return Call([&] { return RecordEvent(event, stream, flags); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return Call([&] {
    if (const cudaError_t error = Check(event)) return error;
    return Query(event);
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return Call([&] { return Synchronize(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from,
                                 cudaEvent_t to) {
  return Call([&] { return Elapsed(milliseconds, from, to); });
}

}  // extern "C"
}  // namespace null_gpu
