// SPDX-License-Identifier: MIT
// Streams, events and the work enqueued on them.
//
// Time on a stream is made up but consistent: an operation starts when it is
// enqueued and earlier operations on its stream have ended, an event completes
// with the work before it, and the host waits until then.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_STREAMS_STREAM_H_
#define TRAINBENCH_TOOLS_NULL_GPU_STREAMS_STREAM_H_

#include <driver_types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tools/null_gpu/order/clock.h"
#include "tools/null_gpu/streams/operation.h"

namespace null_gpu {
struct Capture;
}  // namespace null_gpu

struct CUstream_st {
  int device;
  uint32_t id;           // as CUPTI numbers it: 7 is the legacy default stream
  bool blocking;         // waits for the legacy default stream
  int64_t ready_ns = 0;  // when its last operation ends
  std::deque<int64_t> queue = {};  // when each of its operations ends

  std::shared_ptr<null_gpu::Capture> capture = nullptr;  // null outside of one
  // On which the next node of the capture depends.
  std::vector<cudaGraphNode_t> tail = {};

  // For order/, which numbers the streams of all devices.
  null_gpu::Clock clock = {};
  std::optional<size_t> number = std::nullopt;
};

struct CUevent_st {
  bool timed;
  bool recorded = false;
  int64_t ready_ns = 0;

  // For an event that was last recorded in a capture.
  std::shared_ptr<null_gpu::Capture> capture = nullptr;
  std::vector<cudaGraphNode_t> nodes = {};

  null_gpu::Clock clock = {};
};

namespace null_gpu {

// Guards all streams, events, captures and graphs.
std::mutex& StreamMutex();

// The functions below require it.

Stream* NewStream(int device, bool blocking);
bool DeleteStream(Stream* stream);

// Returns null for a stream that does not exist; the legacy default stream of
// the current device for 0.
Stream* FindStream(cudaStream_t handle);
bool IsLegacy(const Stream& stream);
const std::vector<Stream*>& StreamsOf(int device);

Event* NewEvent(bool timed);
void DeleteEvent(Event* event);
// Returns null for an event that does not exist.
Event* FindEvent(cudaEvent_t handle);

// Calls visit(other) for the streams that the legacy default stream makes this
// one wait for.
template <typename Visit>
void ForEachAwaited(const Stream& stream, Visit&& visit) {
  const std::vector<Stream*>& all = StreamsOf(stream.device);
  if (IsLegacy(stream)) {
    for (Stream* other : all) {
      if (other->blocking) visit(*other);
    }
  } else if (stream.blocking) {
    visit(*all.front());
  }
}

// Returns when the next operation on the stream would start.
int64_t StartTime(const Stream& stream);

// Puts the operation on the stream, which must not be capturing.
void Execute(const Operation& operation, Stream& stream, uint32_t graph = 0,
             uint64_t graph_node = 0);

// The functions below lock it themselves.

// Executes the operation or records it in the stream's capture. Waits first if
// the stream's queue is full.
cudaError_t Enqueue(Operation operation, cudaStream_t stream);

// Runs the body with the stream while it locks the mutex.
template <typename Body>
cudaError_t WithStream(cudaStream_t handle, Body&& body) {
  const std::lock_guard lock(StreamMutex());
  Stream* const stream = FindStream(handle);
  return stream != nullptr ? body(*stream) : cudaErrorInvalidResourceHandle;
}

// Waits until all work on the streams of the device has ended.
void WaitForWork(int device);

// Ends all work on the stream now, as an aborted collective does. If it would
// never end, so do the device's other streams and all events that never end:
// they may have waited for it.
void EndNow(cudaStream_t stream);

int64_t NowNs();

// Sleeps for a part of this time.
void Nap(int64_t nanoseconds);

// Blocks until the time that `ready()` returns, which is called repeatedly.
template <typename Ready>
void WaitFor(Ready&& ready) {
  for (int64_t left = ready() - NowNs(); left > 0; left = ready() - NowNs()) {
    Nap(left);
  }
}

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_STREAM_H_
