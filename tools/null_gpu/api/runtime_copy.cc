// SPDX-License-Identifier: MIT
// The runtime: copies and fills.

#include <cuda_runtime_api.h>

#include "tools/null_gpu/core/memory.h"
#include "tools/null_gpu/order/order.h"
#include "tools/null_gpu/streams/call.h"

namespace null_gpu {
namespace {

cudaMemcpyKind DirectionOf(const void* to, const void* from,
                           cudaMemcpyKind kind) {
  if (kind != cudaMemcpyDefault) return kind;
  const bool to_device = GetMemory().IsDevice(to);
  if (GetMemory().IsDevice(from)) {
    return to_device ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
  }
  return to_device ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost;
}

Operation Copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  Operation operation;
  operation.kind = Operation::Kind::kCopy;
  operation.to = to;
  operation.from = from;
  operation.bytes = bytes;
  operation.direction = DirectionOf(to, from, kind);
  const void* const host =
      operation.direction == cudaMemcpyHostToDevice ? from : to;
  operation.pinned = operation.direction != cudaMemcpyDeviceToDevice &&
                     GetMemory().Find(host).has_value();
  return operation;
}

Operation Fill(void* to, int value, size_t bytes) {
  Operation operation;
  operation.kind = Operation::Kind::kFill;
  operation.value = value;
  operation.to = to;
  operation.bytes = bytes;
  return operation;
}

// Whether a copy has ended when the host continues. A copy between devices has
// only started; one from pageable memory has only left it.
bool EndsForHost(const Operation& operation) {
  return operation.direction == cudaMemcpyDeviceToHost ||
         (operation.direction == cudaMemcpyHostToDevice && operation.pinned);
}

cudaError_t Wait(cudaStream_t handle, bool ends) {
  GetCounters().waits.Add();
  WaitFor([handle]() -> int64_t {
    const std::lock_guard lock(StreamMutex());
    const Stream* const stream = FindStream(handle);
    return stream != nullptr ? stream->ready_ns : 0;
  });
  const std::lock_guard lock(StreamMutex());
  Stream* const stream = FindStream(handle);
  if (stream != nullptr && ends) OrderHostAfter(*stream);
  return StickyError();
}

cudaError_t EnqueueValid(const Operation& operation, cudaStream_t stream) {
  if (operation.direction > cudaMemcpyDeviceToDevice) {
    return cudaErrorInvalidMemcpyDirection;
  }
  return Enqueue(operation, stream);
}

// The host waits for a copy to or from pageable memory.
cudaError_t EnqueueCopy(const Operation& operation, cudaStream_t stream) {
  const cudaError_t error = EnqueueValid(operation, stream);
  if (error != cudaSuccess || operation.pinned ||
      operation.direction == cudaMemcpyDeviceToDevice) {
    return error;
  }
  {
    const std::lock_guard lock(StreamMutex());
    if (FindStream(stream)->capture != nullptr) return cudaSuccess;
  }
  return Wait(stream, EndsForHost(operation));
}

cudaError_t CopyAndWait(const Operation& operation) {
  const cudaError_t error = EnqueueValid(operation, nullptr);
  return error != cudaSuccess ? error : Wait(nullptr, EndsForHost(operation));
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes,
                       cudaMemcpyKind kind) {
  return UnsafeCall([&] { return CopyAndWait(Copy(to, from, bytes, kind)); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  return Call([&] { return EnqueueCopy(Copy(to, from, bytes, kind), stream); });
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return Call([&] { return Enqueue(Fill(to, value, bytes), nullptr); });
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes,
                            cudaStream_t stream) {
  return Call([&] { return Enqueue(Fill(to, value, bytes), stream); });
}

}  // extern "C"
}  // namespace null_gpu
