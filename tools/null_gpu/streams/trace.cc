// SPDX-License-Identifier: MIT

#include "tools/null_gpu/streams/trace.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <ctime>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/streams/activity.h"
#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/stream.h"

namespace null_gpu {
namespace {

constexpr uint64_t kUsualTicks = 1000;

std::atomic<CUpti_TimestampCallbackFunc> clock_function{nullptr};
std::atomic<int> registrations{0}, kernels_to_spoil{0};
std::atomic<double> ticks_per_ns{1};

uint64_t DefaultClock() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(now.tv_nsec);
}

std::map<CUpti_ExternalCorrelationKind, std::vector<uint64_t>>& ExternalIds() {
  thread_local std::map<CUpti_ExternalCorrelationKind, std::vector<uint64_t>>
      ids;
  return ids;
}

struct Times {
  uint64_t start, end;
};

// Returns the ticks of a clock, which may count cycles as Kineto's does, per
// nanosecond; 1 for a clock that does not run.
double MeasureTicksPerNs(CUpti_TimestampCallbackFunc clock) {
  constexpr int64_t kWhileNs = 200'000;
  std::array<double, 5> ratios;  // a preempted one is not their median
  for (double& ratio : ratios) {
    const int64_t start_ns = NowNs();
    const uint64_t start = clock();
    while (NowNs() < start_ns + kWhileNs) {
    }
    const uint64_t ticks = clock() - start;
    ratio =
        static_cast<double>(ticks) / static_cast<double>(NowNs() - start_ns);
  }
  std::sort(ratios.begin(), ratios.end());
  const double median = ratios[ratios.size() / 2];
  return median > 0.01 && median < 100 ? median : 1;
}

// Returns the next free time of a stream.
Times Schedule(const Operation& operation, const Place& place) {
  static auto* const mutex = new std::mutex;
  static auto* const free_at = new std::map<std::pair<int, uint32_t>, uint64_t>;
  const std::lock_guard lock(*mutex);
  uint64_t& free = (*free_at)[{place.device, place.stream}];
  const uint64_t start = std::max(free, TraceNow() + kUsualTicks);
  const double length =
      operation.nanoseconds < kForever
          ? static_cast<double>(operation.nanoseconds) * ticks_per_ns
          : kUsualTicks;
  free = start + static_cast<uint64_t>(length);
  return {start, free};
}

template <typename Record>
Record Made(CUpti_ActivityKind kind) {
  Record record;
  std::memset(&record, 0, sizeof(record));
  record.kind = kind;
  return record;
}

// Whether one more kernel's record must have the time of another clock.
bool TakeSpoiled() {
  return kernels_to_spoil > 0 && kernels_to_spoil.fetch_sub(1) > 0;
}

// Fill in the fields that only kernels, copies or fills have.
void Complete(CUpti_ActivityKernel10& record, const Operation& operation) {
  record.name = operation.kernel->name;
  record.gridX = static_cast<int32_t>(operation.grid.x);
  record.gridY = static_cast<int32_t>(operation.grid.y);
  record.gridZ = static_cast<int32_t>(operation.grid.z);
  record.blockX = static_cast<int32_t>(operation.block.x);
  record.blockY = static_cast<int32_t>(operation.block.y);
  record.blockZ = static_cast<int32_t>(operation.block.z);
  record.dynamicSharedMemory = static_cast<int32_t>(operation.shared_bytes);
  // Kineto divides by the occupancy that these give.
  record.registersPerThread = 32;
  if (TakeSpoiled()) {
    record.end = DefaultClock();
    record.start = record.end - kUsualTicks;
  }
}

// CUPTI's kinds of copies, by cudaMemcpyKind.
constexpr uint8_t kCopyKinds[] = {
    CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
    CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD};

void Complete(CUpti_ActivityMemcpy6& record, const Operation& operation) {
  const uint8_t host = operation.pinned ? CUPTI_ACTIVITY_MEMORY_KIND_PINNED
                                        : CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  constexpr uint8_t kDevice = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  const cudaMemcpyKind direction = operation.direction;
  record.copyKind = kCopyKinds[direction];
  record.bytes = operation.bytes;
  record.srcKind = direction == cudaMemcpyHostToDevice ? host : kDevice;
  record.dstKind = direction == cudaMemcpyDeviceToHost ? host : kDevice;
  record.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
}

void Complete(CUpti_ActivityMemset4& record, const Operation& operation) {
  record.bytes = operation.bytes;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
}

bool IsLost(const Operation& operation) {
  return operation.kind == Operation::Kind::kKernel &&
         Inject("kernel_record").error != cudaSuccess;
}

template <typename Record>
void Trace(CUpti_ActivityKind kind, const Operation& operation,
           const Place& place, uint32_t correlation) {
  if (!GetActivityBuffers().IsEnabled(kind) || IsLost(operation)) return;
  auto record = Made<Record>(kind);
  const Times times = Schedule(operation, place);
  // In ticks of the profiler's clock; a negative skew wraps around.
  const auto skew = static_cast<uint64_t>(static_cast<int64_t>(
      static_cast<double>(GetSettings().skew_ns) * ticks_per_ns));
  record.start = times.start + skew;
  record.end = times.end + skew;
  record.deviceId = static_cast<uint32_t>(place.device);
  record.contextId = static_cast<uint32_t>(place.device) + 1;
  record.streamId = place.stream;
  record.correlationId = correlation;
  record.graphId = place.graph;
  record.graphNodeId = place.graph_node;
  Complete(record, operation);
  GetActivityBuffers().Put(record);
}

// Returns CUPTI's number of a launch by the driver, 0 for other functions.
// Kineto wants no other calls of the driver.
uint32_t DriverLaunch(std::string_view function) {
  if (function == "cuLaunchKernel") {
    return CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
  }
  return function == "cuLaunchKernelEx"
             ? CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx
             : 0;
}

}  // namespace

uint64_t TraceNow() {
  const auto clock = clock_function.load();
  return clock != nullptr ? clock() : DefaultClock();
}

void RegisterTraceClock(CUpti_TimestampCallbackFunc clock) {
  clock_function = clock;
  ticks_per_ns = clock != nullptr ? MeasureTicksPerNs(clock) : 1;
  kernels_to_spoil = clock != nullptr ? registrations++ : 0;
}

void PushExternalId(CUpti_ExternalCorrelationKind kind, uint64_t id) {
  ExternalIds()[kind].push_back(id);
}

bool PopExternalId(CUpti_ExternalCorrelationKind kind, uint64_t* id) {
  std::vector<uint64_t>& ids = ExternalIds()[kind];
  if (ids.empty()) return false;
  if (id != nullptr) *id = ids.back();
  ids.pop_back();
  return true;
}

void TraceCorrelation(uint32_t correlation) {
  constexpr auto kKind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  if (!GetActivityBuffers().IsEnabled(kKind)) return;
  for (const auto& [kind, ids] : ExternalIds()) {
    if (ids.empty()) continue;
    auto record = Made<CUpti_ActivityExternalCorrelation>(kKind);
    record.externalKind = kind;
    record.externalId = ids.back();
    record.correlationId = correlation;
    GetActivityBuffers().Put(record);
  }
}

void TraceCall(const ApiEntry& entry, uint64_t start, uint32_t correlation) {
  ActivityBuffers& buffers = GetActivityBuffers();
  const uint32_t launch = DriverLaunch(entry.name());
  const auto kind =
      launch != 0 ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
  if (!buffers.IsEnabled(kind)) return;
  if (launch == 0 && !buffers.IsCallEnabled(entry.cbid())) return;
  auto record = Made<CUpti_ActivityAPI>(kind);
  record.cbid = launch != 0 ? launch : entry.cbid();
  record.start = start;
  record.end = TraceNow();
  record.processId = static_cast<uint32_t>(getpid());
  // CUPTI's thread id is pthread's, truncated to 32 bits.
  record.threadId = static_cast<uint32_t>(pthread_self());
  record.correlationId = correlation;
  buffers.Put(record);
}

void TraceOperation(const Operation& operation, const Place& place,
                    uint32_t correlation) {
  if (!IsTracing()) return;
  switch (operation.kind) {
    case Operation::Kind::kKernel:
      return Trace<CUpti_ActivityKernel10>(
          CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, operation, place, correlation);
    case Operation::Kind::kCopy:
      return Trace<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, operation,
                                          place, correlation);
    case Operation::Kind::kFill:
      return Trace<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, operation,
                                          place, correlation);
    default:
      return;
  }
}

}  // namespace null_gpu
