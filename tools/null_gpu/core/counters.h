// SPDX-License-Identifier: MIT
// Counts the process's work on its null devices.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_COUNTERS_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_COUNTERS_H_

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/null_gpu/null_gpu.h"

namespace null_gpu {

// Since the last reset, or since the start of the process.
enum class Since { kReset, kStart };

// A sum that can be reset without losing the total of the process.
class Counter {
 public:
  void Add(uint64_t amount = 1) {
    value_.fetch_add(amount, std::memory_order_relaxed);
  }
  void Reset() { zero_ = Total(); }
  uint64_t Total() const { return value_.load(std::memory_order_relaxed); }
  uint64_t SinceReset() const { return Total() - zero_; }
  uint64_t Value(Since since) const {
    return since == Since::kReset ? SinceReset() : Total();
  }

 private:
  std::atomic<uint64_t> value_{0}, zero_{0};
};

struct Counters {
  Counter launches, graph_launches, graph_nodes;
  Counter copies_h2d, copy_bytes_h2d, copies_d2h, copy_bytes_d2h;
  Counter copies_d2d, copy_bytes_d2d, copies_h2h, copy_bytes_h2h;
  Counter fills, fill_bytes, waits;
  Counter allocations, allocated_bytes, frees;
  Counter host_allocations, host_allocated_bytes;
  Counter collectives, collective_bytes, faults, accesses;
};

Counters& GetCounters();

// A field of null_gpu.h.
struct CounterField {
  const char* name;
  uint64_t trainbench_null_gpu_counters::*value;
  Counter Counters::*counter;  // null: Memory counts it
};
std::span<const CounterField> CounterFields();

trainbench_null_gpu_counters ReadCounters(Since since);

void ResetCounters();

// A function of the API that was called at least once.
class ApiEntry {
 public:
  // Returns the only entry of this name.
  static ApiEntry& Of(const char* name);
  static std::vector<ApiEntry*> All();

  const char* name() const { return name_; }
  // CUPTI's number of the function, 0 if it has none.
  uint32_t cbid() const { return cbid_; }
  Counter& calls() { return calls_; }

 private:
  explicit ApiEntry(const char* name);

  const char* name_;
  uint32_t cbid_;
  Counter calls_;
};

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_COUNTERS_H_
