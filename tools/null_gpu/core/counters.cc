// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/counters.h"

#include <map>
#include <mutex>
#include <string_view>

#include "tools/null_gpu/core/cbids.h"
#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/core/memory.h"

namespace null_gpu {
namespace {

std::mutex& EntriesMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

std::map<std::string_view, ApiEntry*>& Entries() {
  static auto* const entries = new std::map<std::string_view, ApiEntry*>;
  return *entries;
}

// Pairs each counter with its field in null_gpu.h.
struct Field {
  Counter Counters::*counter;
  uint64_t trainbench_null_gpu_counters::*value;
};

constexpr Field kFields[] = {
#define NULL_GPU_FIELD(name) \
  { &Counters::name, &trainbench_null_gpu_counters::name }
    NULL_GPU_FIELD(launches),
    NULL_GPU_FIELD(graph_launches),
    NULL_GPU_FIELD(graph_nodes),
    NULL_GPU_FIELD(copies_h2d),
    NULL_GPU_FIELD(copy_bytes_h2d),
    NULL_GPU_FIELD(copies_d2h),
    NULL_GPU_FIELD(copy_bytes_d2h),
    NULL_GPU_FIELD(copies_d2d),
    NULL_GPU_FIELD(copy_bytes_d2d),
    NULL_GPU_FIELD(copies_h2h),
    NULL_GPU_FIELD(copy_bytes_h2h),
    NULL_GPU_FIELD(fills),
    NULL_GPU_FIELD(fill_bytes),
    NULL_GPU_FIELD(waits),
    NULL_GPU_FIELD(allocations),
    NULL_GPU_FIELD(allocated_bytes),
    NULL_GPU_FIELD(frees),
    NULL_GPU_FIELD(host_allocations),
    NULL_GPU_FIELD(host_allocated_bytes),
    NULL_GPU_FIELD(collectives),
    NULL_GPU_FIELD(collective_bytes),
    NULL_GPU_FIELD(faults),
    NULL_GPU_FIELD(accesses),
#undef NULL_GPU_FIELD
};

}  // namespace

Counters& GetCounters() {
  static auto* const counters = new Counters;
  return *counters;
}

trainbench_null_gpu_counters ReadCounters(Since since) {
  trainbench_null_gpu_counters values = {};
  for (const Field& field : kFields) {
    const Counter& counter = GetCounters().*field.counter;
    values.*field.value =
        since == Since::kReset ? counter.SinceReset() : counter.Total();
  }
  values.device_bytes = GetMemory().TakenBytes();
  values.peak_device_bytes = since == Since::kReset
                                 ? GetMemory().PeakBytesSinceReset()
                                 : GetMemory().PeakBytes();
  return values;
}

void ResetCounters() {
  for (const Field& field : kFields) (GetCounters().*field.counter).Reset();
  for (ApiEntry* entry : ApiEntry::All()) entry->calls().Reset();
  for (Kernel* kernel : AllKernels()) kernel->launches.Reset();
  GetMemory().ResetPeak();
}

ApiEntry::ApiEntry(const char* name) : name_(name), cbid_(FindCbid(name)) {}

ApiEntry& ApiEntry::Of(const char* name) {
  const std::lock_guard lock(EntriesMutex());
  ApiEntry*& entry = Entries()[name];
  if (entry == nullptr) entry = new ApiEntry(name);
  return *entry;
}

std::vector<ApiEntry*> ApiEntry::All() {
  const std::lock_guard lock(EntriesMutex());
  std::vector<ApiEntry*> all;
  for (const auto& [name, entry] : Entries()) all.push_back(entry);
  return all;
}

}  // namespace null_gpu
