// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/counters.h"

#include <map>
#include <mutex>
#include <string_view>

#include "tools/null_gpu/core/generated.h"
#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/core/memory.h"
#include "tools/null_gpu/core/settings.h"

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

}  // namespace

Counters& GetCounters() {
  static auto* const counters = new Counters;
  return *counters;
}

std::span<const CounterField> CounterFields() {
  static constexpr CounterField kFields[] = {
#define NULL_GPU_FIELD(name, counter) \
  {#name, &trainbench_null_gpu_counters::name, counter}
#define NULL_GPU_COUNTER(name) NULL_GPU_FIELD(name, &Counters::name)
      NULL_GPU_COUNTER(launches),
      NULL_GPU_COUNTER(graph_launches),
      NULL_GPU_COUNTER(graph_nodes),
      NULL_GPU_COUNTER(copies_h2d),
      NULL_GPU_COUNTER(copy_bytes_h2d),
      NULL_GPU_COUNTER(copies_d2h),
      NULL_GPU_COUNTER(copy_bytes_d2h),
      NULL_GPU_COUNTER(copies_d2d),
      NULL_GPU_COUNTER(copy_bytes_d2d),
      NULL_GPU_COUNTER(copies_h2h),
      NULL_GPU_COUNTER(copy_bytes_h2h),
      NULL_GPU_COUNTER(fills),
      NULL_GPU_COUNTER(fill_bytes),
      NULL_GPU_COUNTER(waits),
      NULL_GPU_COUNTER(allocations),
      NULL_GPU_COUNTER(allocated_bytes),
      NULL_GPU_COUNTER(frees),
      NULL_GPU_COUNTER(host_allocations),
      NULL_GPU_COUNTER(host_allocated_bytes),
      NULL_GPU_COUNTER(collectives),
      NULL_GPU_COUNTER(collective_bytes),
      NULL_GPU_COUNTER(faults),
      NULL_GPU_FIELD(device_bytes, nullptr),
      NULL_GPU_FIELD(peak_device_bytes, nullptr),
      NULL_GPU_COUNTER(accesses),
#undef NULL_GPU_COUNTER
#undef NULL_GPU_FIELD
  };
  return kFields;
}

trainbench_null_gpu_counters ReadCounters(Since since) {
  trainbench_null_gpu_counters values = {};
  for (const CounterField& field : CounterFields()) {
    if (field.counter == nullptr) continue;
    values.*field.value = (GetCounters().*field.counter).Value(since);
  }
  values.device_bytes = GetMemory().TakenBytes();
  values.peak_device_bytes = since == Since::kReset
                                 ? GetMemory().PeakBytesSinceReset()
                                 : GetMemory().PeakBytes();
  return values;
}

void ResetCounters() {
  for (const CounterField& field : CounterFields()) {
    if (field.counter != nullptr) (GetCounters().*field.counter).Reset();
  }
  for (ApiEntry* entry : ApiEntry::All()) entry->calls().Reset();
  for (Kernel* kernel : AllKernels()) kernel->launches.Reset();
  GetMemory().ResetPeak();
}

ApiEntry::ApiEntry(const char* name)
    : name_(name), cbid_(Cbids().contains(name) ? Cbids().at(name) : 0) {}

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

int Succeed(const char* function) {
  ApiEntry::Of(function).calls().Add();
  return 0;
}

int Missing(const char* function) {
  Die(std::string(function) +
      " was called, which is neither written out nor in succeeds.txt");
}

}  // namespace null_gpu
