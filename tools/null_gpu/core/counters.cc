// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/counters.h"

#include <mutex>
#include <string>

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

std::map<std::string_view, uint64_t> ReadCounters(Since since) {
  std::map<std::string_view, uint64_t> counts = {
      {"device_bytes", GetMemory().TakenBytes()},
      {"peak_device_bytes", GetMemory().PeakBytes(since)}};
  for (const auto& [name, counter] : GetCounters().by_name) {
    counts[name] = counter->Value(since);
  }
  return counts;
}

void ResetCounters() {
  for (const auto& [name, counter] : GetCounters().by_name) counter->Reset();
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
