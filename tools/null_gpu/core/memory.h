// SPDX-License-Identifier: MIT
// The memory of the null devices: addresses, with memory behind them only if
// Settings::values asks for it, and the count of the allocated bytes.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_MEMORY_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_MEMORY_H_

#include <driver_types.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "tools/null_gpu/core/counters.h"

namespace null_gpu {

// Device memory is allocated in pages of this size.
constexpr size_t kPageBytes = size_t{2} << 20;
// The memory of a context before the first allocation: about as much as CUDA 13
// takes on these cards with lazily loaded modules.
constexpr size_t kContextBytes = size_t{512} << 20;

struct Range {
  char* base;
  size_t bytes;
  int device;     // -1 for host memory
  size_t wanted;  // `bytes` before rounding up to whole pages
};

// Returns the last entry that begins at or before the address, or null.
template <typename Map, typename Address>
auto* LastAt(Map& map, Address address) {
  const auto after = map.upper_bound(address);
  return after != map.begin() ? &*std::prev(after) : nullptr;
}

class Memory {
 public:
  explicit Memory(int devices);

  // Creates the context of the device, if there is none.
  void EnsureContext(int device);
  bool HasContext(int device);

  // Allocates memory with an address. If devices hold values, all its bytes are
  // 255, which is NaN in fp32 and in bf16.
  cudaError_t Allocate(int device, size_t bytes, void** pointer);
  cudaError_t Free(void* pointer);

  // Allocate and free pages without an address.
  cudaError_t Take(int device, size_t bytes);
  void GiveBack(int device, size_t bytes);

  // Frees all of the process's memory on the device and its context. Addresses
  // remain reserved.
  void Release(int device);

  // Reserve and free addresses without pages, which can be accessed only if
  // devices hold values.
  static void* Reserve(size_t bytes);
  static void Unreserve(void* pointer, size_t bytes);

  // Records the range at an address, until it is forgotten.
  void Remember(const Range& range);
  bool Forget(void* base);
  std::optional<Range> Find(const void* pointer);
  bool IsDevice(const void* pointer);
  std::vector<Range> OfDevice(int device);

  void Info(int device, size_t* free, size_t* total);
  uint64_t TakenBytes();
  uint64_t PeakBytes(Since since);
  void ResetPeak();

 private:
  cudaError_t TakeLocked(int device, size_t bytes);

  std::mutex mutex_;
  std::map<const char*, Range> ranges_;
  std::vector<size_t> taken_;
  std::vector<bool> contexts_;
  uint64_t sum_ = 0, peak_ = 0, peak_since_reset_ = 0;
};

Memory& GetMemory();

// Rounds up to whole pages.
size_t InPages(size_t bytes);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_MEMORY_H_
