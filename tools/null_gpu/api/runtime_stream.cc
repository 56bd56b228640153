// SPDX-License-Identifier: MIT
// The runtime: streams and events.

#include <cuda_runtime_api.h>

#include <algorithm>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/order/order.h"
#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/capture.h"
#include "tools/null_gpu/streams/stream.h"

using null_gpu::Call;
using null_gpu::Event;
using null_gpu::FindEvent;
using null_gpu::FindStream;
using null_gpu::Inject;
using null_gpu::NowNs;
using null_gpu::Operation;
using null_gpu::Returns;
using null_gpu::Stream;
using null_gpu::StreamMutex;

namespace {

cudaError_t MakeStream(cudaStream_t* handle, unsigned flags, int priority) {
  const std::lock_guard lock(StreamMutex());
  const bool blocking = (flags & cudaStreamNonBlocking) == 0;
  *handle = reinterpret_cast<cudaStream_t>(
      null_gpu::NewStream(null_gpu::CurrentDevice(), priority, blocking));
  return cudaSuccess;
}

cudaError_t MakeEvent(cudaEvent_t* handle, unsigned flags) {
  const std::lock_guard lock(StreamMutex());
  *handle = reinterpret_cast<cudaEvent_t>(
      null_gpu::NewEvent((flags & cudaEventDisableTiming) == 0));
  return cudaSuccess;
}

// Returns why the host may not query the stream now.
cudaError_t CheckStream(cudaStream_t handle) {
  {
    const std::lock_guard lock(StreamMutex());
    Stream* const stream = FindStream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream->capture != nullptr) {
      return null_gpu::Invalidate(*stream->capture,
                                  cudaErrorStreamCaptureUnsupported);
    }
    const cudaError_t error = null_gpu::CheckImplicit(*stream);
    if (error != cudaSuccess) return error;
  }
  return null_gpu::CheckUnsafe();
}

// The same for an event.
cudaError_t CheckEvent(cudaEvent_t handle) {
  {
    const std::lock_guard lock(StreamMutex());
    const Event* const event = FindEvent(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (event->capture != nullptr) {
      return null_gpu::Invalidate(*event->capture, cudaErrorCapturedEvent);
    }
  }
  return null_gpu::CheckUnsafe();
}

int64_t StreamReady(cudaStream_t handle) {
  const std::lock_guard lock(StreamMutex());
  const Stream* const stream = FindStream(handle);
  if (stream == nullptr) return 0;
  return IsLegacy(*stream) ? null_gpu::ReadyTime(stream->device)
                           : stream->ready_ns;
}

// Records that the host knows all work on the stream to be done.
cudaError_t Done(cudaStream_t handle) {
  const std::lock_guard lock(StreamMutex());
  if (Stream* const stream = FindStream(handle)) {
    null_gpu::OrderHostAfter(*stream);
  }
  return cudaSuccess;
}

// The same for an event.
cudaError_t Done(cudaEvent_t handle) {
  const std::lock_guard lock(StreamMutex());
  if (const Event* const event = FindEvent(handle)) {
    null_gpu::OrderHostAfter(*event);
  }
  return cudaSuccess;
}

int64_t EventReady(cudaEvent_t handle) {
  const std::lock_guard lock(StreamMutex());
  const Event* const event = FindEvent(handle);
  return event != nullptr && event->recorded ? event->ready_ns : 0;
}

// `ready` returns the time at which the handle's work is done.
template <typename Handle, typename Ready>
cudaError_t Synchronize(Handle handle, Ready&& ready) {
  null_gpu::GetCounters().waits.Add();
  const auto fault = Inject("synchronize", 0, Returns::kWhenDone);
  if (fault.error != cudaSuccess) return fault.error;
  null_gpu::WaitFor([&] { return ready(handle); });
  const cudaError_t error = null_gpu::StickyError();
  return error == cudaSuccess ? Done(handle) : error;
}

cudaError_t RecordEvent(cudaEvent_t event_handle, cudaStream_t stream_handle,
                        unsigned flags) {
  const auto fault = Inject("event_record", 0, Returns::kAtOnce);
  if (fault.error != cudaSuccess) return fault.error;
  const std::lock_guard lock(StreamMutex());
  Event* const event = FindEvent(event_handle);
  Stream* const stream = FindStream(stream_handle);
  if (event == nullptr || stream == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  if (stream->capture == nullptr) {
    const cudaError_t error = null_gpu::CheckImplicit(*stream);
    if (error != cudaSuccess) return error;
    event->capture = nullptr;
    event->recorded = true;
    event->ready_ns =
        fault.never ? null_gpu::kForever : null_gpu::StartTime(*stream);
    null_gpu::OrderEventRecord(*event, *stream);
    return cudaSuccess;
  }
  if ((flags & cudaEventRecordExternal) != 0) {
    Operation operation;
    operation.kind = Operation::Kind::kEventRecord;
    operation.event = event;
    return null_gpu::Record(operation, *stream);
  }
  if (stream->capture->invalidated) return cudaErrorStreamCaptureInvalidated;
  event->capture = stream->capture;
  event->nodes = stream->tail;
  return cudaSuccess;
}

cudaError_t WaitEvent(cudaStream_t stream_handle, cudaEvent_t event_handle,
                      unsigned flags) {
  const std::lock_guard lock(StreamMutex());
  Event* const event = FindEvent(event_handle);
  Stream* const stream = FindStream(stream_handle);
  if (event == nullptr || stream == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  if (event->capture != nullptr) return null_gpu::JoinCapture(*stream, *event);
  if (stream->capture == nullptr) {
    stream->ready_ns = std::max(stream->ready_ns, event->ready_ns);
    null_gpu::OrderEventWait(*stream, *event);
    return cudaSuccess;
  }
  if ((flags & cudaEventWaitExternal) != 0) {
    Operation operation;
    operation.kind = Operation::Kind::kEventWait;
    operation.event = event;
    return null_gpu::Record(operation, *stream);
  }
  if (!event->recorded) return cudaSuccess;
  return null_gpu::Invalidate(*stream->capture,
                              cudaErrorStreamCaptureIsolation);
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
  return Call<"cudaStreamCreate">(
      [&] { return MakeStream(stream, cudaStreamDefault, 0); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return Call<"cudaStreamCreateWithFlags">(
      [&] { return MakeStream(stream, flags, 0); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                         int priority) {
  return Call<"cudaStreamCreateWithPriority">(
      [&] { return MakeStream(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return Call<"cudaStreamDestroy">([&] {
    const std::lock_guard lock(StreamMutex());
    Stream* const stream = FindStream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream->capture != nullptr) {
      return null_gpu::Invalidate(*stream->capture,
                                  cudaErrorStreamCaptureUnsupported);
    }
    return null_gpu::DeleteStream(stream) ? cudaSuccess
                                          : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return Call<"cudaStreamGetPriority">([&] {
    const std::lock_guard lock(StreamMutex());
    const Stream* const stream = FindStream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    *priority = stream->priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return Call<"cudaStreamQuery">([&] {
    const cudaError_t error = CheckStream(stream);
    if (error != cudaSuccess) return error;
    return StreamReady(stream) <= NowNs() ? Done(stream) : cudaErrorNotReady;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return Call<"cudaStreamSynchronize">([&] {
    const cudaError_t error = CheckStream(stream);
    if (error != cudaSuccess) return error;
    return Synchronize(stream, &StreamReady);
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned flags) {
  return Call<"cudaStreamWaitEvent">(
      [&] { return WaitEvent(stream, event, flags); });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return Call<"cudaEventCreate">(
      [&] { return MakeEvent(event, cudaEventDefault); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return Call<"cudaEventCreateWithFlags">(
      [&] { return MakeEvent(event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return Call<"cudaEventDestroy">([&] {
    const std::lock_guard lock(StreamMutex());
    Event* const event = FindEvent(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    null_gpu::DeleteEvent(event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return Call<"cudaEventRecord">(
      [&] { return RecordEvent(event, stream, cudaEventRecordDefault); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                     unsigned flags) {
  return Call<"cudaEventRecordWithFlags">(
      [&] { return RecordEvent(event, stream, flags); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return Call<"cudaEventQuery">([&] {
    const cudaError_t error = CheckEvent(event);
    if (error != cudaSuccess) return error;
    const auto fault = Inject("event_query", 0, Returns::kWhenDone);
    if (fault.error != cudaSuccess) return fault.error;
    return EventReady(event) <= NowNs() ? Done(event) : cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return Call<"cudaEventSynchronize">([&] {
    const cudaError_t error = CheckEvent(event);
    if (error != cudaSuccess) return error;
    return Synchronize(event, &EventReady);
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from,
                                 cudaEvent_t to) {
  return Call<"cudaEventElapsedTime">(
      [&] { return Elapsed(milliseconds, from, to); });
}

}  // extern "C"
