// SPDX-License-Identifier: MIT
// The memory of the null devices: addresses without anything behind them, but
// where Settings::values asks for it, and the count of the bytes that are
// taken.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_MEMORY_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_MEMORY_H_

#include <driver_types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace null_gpu {

// Device memory is handed out in pages of this size.
constexpr size_t kPageBytes = size_t{2} << 20;
// What a context takes of the device before the first allocation: about what
// CUDA 13 takes on these cards with modules loaded lazily.
constexpr size_t kContextBytes = size_t{512} << 20;

struct Range {
  char* base;
  size_t bytes;
  int device;     // of host memory -1
  size_t wanted;  // before `bytes` became whole pages
};

class Memory {
 public:
  explicit Memory(int devices);

  // Makes the context of the device, if it is not there.
  void EnsureContext(int device);
  bool HasContext(int device);

  // Memory with an address. Where devices hold values, all its bytes are 255,
  // which is NaN in fp32 and in bf16.
  cudaError_t Allocate(int device, size_t bytes, void** pointer);
  cudaError_t Free(void* pointer);

  // Pages without an address.
  cudaError_t Take(int device, size_t bytes);
  void GiveBack(int device, size_t bytes);

  // All that the process has of the device, its context too. Addresses stay.
  void Release(int device);

  // Addresses without pages. They cannot be touched, but where devices hold
  // values.
  static void* Reserve(size_t bytes);
  static void Unreserve(void* pointer, size_t bytes);

  // Says what lies at an address, until it is forgotten.
  void Remember(const Range& range);
  bool Forget(void* base);
  std::optional<Range> Find(const void* pointer);
  bool IsDevice(const void* pointer);
  std::vector<Range> OfDevice(int device);

  void Info(int device, size_t* free, size_t* total);
  uint64_t TakenBytes();
  uint64_t PeakBytes();
  uint64_t PeakBytesSinceReset();
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

// Whole pages.
size_t InPages(size_t bytes);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_MEMORY_H_
