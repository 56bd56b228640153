// SPDX-License-Identifier: MIT

#include "tools/null_gpu/streams/stream.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <unordered_set>
#include <vector>

#include "tools/null_gpu/core/counters.h"
#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/order/locate.h"
#include "tools/null_gpu/order/order.h"
#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/capture.h"
#include "tools/null_gpu/streams/duration.h"
#include "tools/null_gpu/streams/effect.h"
#include "tools/null_gpu/streams/trace.h"

namespace null_gpu {
namespace {

constexpr uint32_t kLegacyId = 7, kFirstId = 13;

struct Streams {
  // By device. The first of each is the legacy default stream.
  std::vector<std::vector<Stream*>> of_device;
  std::vector<uint32_t> next_id;
  std::unordered_set<Stream*> all;
  std::unordered_set<Event*> events;
};

Streams& GetStreams() {
  static auto* const streams = [] {
    auto* made = new Streams;
    for (int device = 0; device < GetSettings().devices; ++device) {
      auto* const legacy = new Stream{device, kLegacyId, true};
      made->of_device.push_back({legacy});
      made->next_id.push_back(kFirstId);
      made->all.insert(legacy);
    }
    return made;
  }();
  return *streams;
}

void Count(const Operation& operation) {
  Counters& counters = GetCounters();
  switch (operation.kind) {
    case Operation::Kind::kKernel:
      counters.launches.Add();
      operation.kernel->launches.Add();
      if (operation.collective_bytes > 0) {
        counters.collectives.Add();
        counters.collective_bytes.Add(operation.collective_bytes);
      }
      break;
    case Operation::Kind::kCopy:
      counters.copies[operation.direction].count.Add();
      counters.copies[operation.direction].bytes.Add(operation.bytes);
      break;
    case Operation::Kind::kFill:
      counters.fills.Add();
      counters.fill_bytes.Add(operation.bytes);
      break;
    default:
      break;
  }
}

// Returns when the stream has room for one more operation.
int64_t RoomTime(cudaStream_t handle) {
  const std::lock_guard lock(StreamMutex());
  Stream* const stream = FindStream(handle);
  if (stream == nullptr || stream->capture != nullptr) return 0;
  const auto first_end = [&] {
    return std::min(stream->queue.front(), stream->ready_ns);
  };
  while (!stream->queue.empty() && first_end() <= NowNs()) {
    stream->queue.pop_front();
  }
  return stream->queue.size() < GetSettings().queue ? 0 : first_end();
}

}  // namespace

std::mutex& StreamMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

Stream* NewStream(int device, bool blocking) {
  Streams& streams = GetStreams();
  const uint32_t id = streams.next_id[device]++;
  auto* stream = new Stream{device, id, blocking};
  streams.of_device[device].push_back(stream);
  streams.all.insert(stream);
  return stream;
}

bool DeleteStream(Stream* stream) {
  if (IsLegacy(*stream)) return false;
  GetStreams().all.erase(stream);
  std::erase(GetStreams().of_device[stream->device], stream);
  delete stream;
  return true;
}

Stream* FindStream(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) {
    return GetStreams().of_device[CurrentDevice()].front();
  }
  if (handle == cudaStreamPerThread) {
    Die("the default stream of a thread is not modeled");
  }
  return GetStreams().all.contains(handle) ? handle : nullptr;
}

bool IsLegacy(const Stream& stream) { return stream.id == kLegacyId; }

const std::vector<Stream*>& StreamsOf(int device) {
  return GetStreams().of_device[device];
}

Event* NewEvent(bool timed) {
  return *GetStreams().events.insert(new Event{timed}).first;
}

void DeleteEvent(Event* event) {
  GetStreams().events.erase(event);
  delete event;
}

Event* FindEvent(cudaEvent_t handle) {
  return GetStreams().events.contains(handle) ? handle : nullptr;
}

int64_t StartTime(const Stream& stream) {
  int64_t start = std::max(NowNs(), stream.ready_ns);
  ForEachAwaited(stream, [&](const Stream& other) {
    start = std::max(start, other.ready_ns);
  });
  return start;
}

void Execute(const Operation& operation, Stream& stream, uint32_t graph,
             uint64_t graph_node) {
  if (operation.kind == Operation::Kind::kEventRecord) {
    operation.event->recorded = true;
    operation.event->ready_ns = StartTime(stream);
    OrderEventRecord(*operation.event, stream);
    return;
  }
  if (operation.kind == Operation::Kind::kEventWait) {
    stream.ready_ns = std::max(stream.ready_ns, operation.event->ready_ns);
    OrderEventWait(stream, *operation.event);
    return;
  }
  const int64_t start = StartTime(stream);
  stream.ready_ns = operation.nanoseconds < kForever - start
                        ? start + operation.nanoseconds
                        : kForever;
  Count(operation);
  OrderOperation(operation, stream);
  ApplyToMemory(operation, stream.device);
  TraceOperation(operation, {stream.device, stream.id, graph, graph_node},
                 CallScope::Correlation());
}

cudaError_t Enqueue(Operation operation, cudaStream_t handle) {
  if (operation.kind == Operation::Kind::kKernel) {
    const Fault fault = Inject("launch");
    if (fault.error != cudaSuccess) return fault.error;
    if (fault.never) operation.nanoseconds = kForever;
  }
  WaitFor([&] { return RoomTime(handle); });
  return WithStream(handle, [&](Stream& stream) {
    LocateAccesses(operation);
    const std::optional<Rates>& rates = GetSettings().rates;
    const bool spins = operation.kernel != nullptr && operation.kernel->spins;
    if (rates && !spins && operation.nanoseconds < kForever) {
      operation.nanoseconds = PredictedNs(operation, *rates);
    }
    if (stream.capture != nullptr) return Record(operation, stream);
    if (const cudaError_t error = CheckImplicit(stream)) return error;
    Execute(operation, stream);
    stream.queue.push_back(stream.ready_ns);
    return cudaSuccess;
  });
}

void WaitForWork(int device) {
  WaitFor([device] {
    const std::lock_guard lock(StreamMutex());
    int64_t ready = 0;
    for (const Stream* stream : StreamsOf(device)) {
      ready = std::max(ready, stream->ready_ns);
    }
    return ready;
  });
}

void EndNow(cudaStream_t handle) {
  const std::lock_guard lock(StreamMutex());
  Stream* const ended = FindStream(handle);
  if (ended == nullptr) return;
  const int64_t now = NowNs();
  const bool was_waited_for = ended->ready_ns == kForever;
  ended->ready_ns = std::min(ended->ready_ns, now);
  if (!was_waited_for) return;
  for (Stream* stream : StreamsOf(ended->device)) {
    if (stream->ready_ns == kForever) stream->ready_ns = now;
  }
  for (Event* event : GetStreams().events) {
    if (event->ready_ns == kForever) event->ready_ns = now;
  }
}

int64_t NowNs() {
  return std::chrono::steady_clock::now().time_since_epoch() /
         std::chrono::nanoseconds(1);
}

void Nap(int64_t nanoseconds) {
  // The scheduler wakes a sleeping thread some 50 us late.
  constexpr int64_t kSpin = 100'000, kLongest = 10'000'000;
  if (nanoseconds <= kSpin) return;
  std::this_thread::sleep_for(
      std::chrono::nanoseconds(std::min(nanoseconds - kSpin, kLongest)));
}

}  // namespace null_gpu
