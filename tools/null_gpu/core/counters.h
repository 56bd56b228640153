// SPDX-License-Identifier: MIT
// Counts the process's work on its null devices.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_COUNTERS_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_COUNTERS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

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

// What the process has done on its devices, by the names of the report.
struct Counters {
  using ByName = std::map<std::string_view, Counter*>;
  struct Named : Counter {
    Named(ByName& all, std::string_view name) { all.emplace(name, this); }
  };
  struct Copies {
    Named count, bytes;
  };

  ByName by_name;  // all counters below

  Named launches{by_name, "launches"};              // kernels, also in graphs
  Named graph_launches{by_name, "graph_launches"};  // cudaGraphLaunch
  Named graph_nodes{by_name, "graph_nodes"};  // recorded by stream captures
  // By cudaMemcpyKind; d2d is also from one device to another.
  Copies copies[4] = {{{by_name, "copies_h2h"}, {by_name, "copy_bytes_h2h"}},
                      {{by_name, "copies_h2d"}, {by_name, "copy_bytes_h2d"}},
                      {{by_name, "copies_d2h"}, {by_name, "copy_bytes_d2h"}},
                      {{by_name, "copies_d2d"}, {by_name, "copy_bytes_d2d"}}};
  Named fills{by_name, "fills"};
  Named fill_bytes{by_name, "fill_bytes"};
  Named waits{by_name, "waits"};  // calls in which the host waits for a device
  Named allocations{by_name, "allocations"};  // cudaMalloc and cuMemCreate
  Named allocated_bytes{by_name, "allocated_bytes"};
  Named frees{by_name, "frees"};
  Named collectives{by_name, "collectives"};            // NCCL
  Named collective_bytes{by_name, "collective_bytes"};  // of whole tensors
  Named faults{by_name, "faults"};                      // injected
  Named accesses{by_name, "accesses"};  // to memory, checked for their order
};

Counters& GetCounters();

// Returns the counts by name. "device_bytes" is the allocated memory of all
// devices, and "peak_device_bytes" its peak; both include contexts, as on a
// real device.
std::map<std::string_view, uint64_t> ReadCounters(Since since);

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
