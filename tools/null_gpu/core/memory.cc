// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "tools/null_gpu/core/settings.h"

namespace null_gpu {

Memory& GetMemory() {
  static auto* const memory = new Memory(GetSettings().devices);
  return *memory;
}

size_t InPages(size_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

Memory::Memory(int devices) : taken_(devices), contexts_(devices) {}

void Memory::EnsureContext(int device) {
  const std::lock_guard lock(mutex_);
  if (contexts_[device]) return;
  contexts_[device] = true;
  (void)TakeLocked(device, kContextBytes);
}

bool Memory::HasContext(int device) {
  const std::lock_guard lock(mutex_);
  return contexts_[device];
}

cudaError_t Memory::TakeLocked(int device, size_t bytes) {
  const size_t total = GetSettings().profile->memory_bytes;
  if (bytes > total - taken_[device]) return cudaErrorMemoryAllocation;
  taken_[device] += bytes;
  sum_ += bytes;
  peak_ = std::max(peak_, sum_);
  peak_since_reset_ = std::max(peak_since_reset_, sum_);
  return cudaSuccess;
}

cudaError_t Memory::Take(int device, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const cudaError_t error = TakeLocked(device, bytes);
  if (error != cudaSuccess) return error;
  GetCounters().allocations.Add();
  GetCounters().allocated_bytes.Add(bytes);
  return cudaSuccess;
}

void Memory::GiveBack(int device, size_t bytes) {
  const std::lock_guard lock(mutex_);
  taken_[device] -= bytes;
  sum_ -= bytes;
  GetCounters().frees.Add();
}

void Memory::Release(int device) {
  const std::lock_guard lock(mutex_);
  sum_ -= taken_[device];
  taken_[device] = 0;
  contexts_[device] = false;
}

cudaError_t Memory::Allocate(int device, size_t bytes, void** pointer) {
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const size_t wanted = bytes;
  bytes = InPages(bytes);
  const cudaError_t error = Take(device, bytes);
  if (error != cudaSuccess) return error;
  *pointer = Reserve(bytes);
  if (*pointer == nullptr) {
    GiveBack(device, bytes);
    return cudaErrorMemoryAllocation;
  }
  if (GetSettings().values) std::memset(*pointer, 255, wanted);
  Remember({static_cast<char*>(*pointer), bytes, device, wanted});
  return cudaSuccess;
}

cudaError_t Memory::Free(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  const auto range = Find(pointer);
  if (!range || range->base != pointer || range->device < 0) {
    return cudaErrorInvalidValue;
  }
  Forget(pointer);
  Unreserve(pointer, range->bytes);
  GiveBack(range->device, range->bytes);
  return cudaSuccess;
}

void* Memory::Reserve(size_t bytes) {
  // Aligned to a page of the device, as cuMemAddressReserve promises.
  const size_t room = bytes + kPageBytes;
  const int access = GetSettings().values ? PROT_READ | PROT_WRITE : PROT_NONE;
  void* const raw = mmap(nullptr, room, access,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto* const start = static_cast<char*>(raw);
  const size_t excess = reinterpret_cast<uintptr_t>(raw) % kPageBytes;
  const size_t before = excess > 0 ? kPageBytes - excess : 0;
  const size_t after = room - before - bytes;
  if (before > 0) munmap(start, before);
  if (after > 0) munmap(start + before + bytes, after);
  return start + before;
}

void Memory::Unreserve(void* pointer, size_t bytes) { munmap(pointer, bytes); }

void Memory::Remember(const Range& range) {
  const std::lock_guard lock(mutex_);
  ranges_[range.base] = range;
}

bool Memory::Forget(void* base) {
  const std::lock_guard lock(mutex_);
  return ranges_.erase(static_cast<char*>(base)) > 0;
}

std::optional<Range> Memory::Find(const void* pointer) {
  const auto* const address = static_cast<const char*>(pointer);
  const std::lock_guard lock(mutex_);
  const auto* const last = LastAt(ranges_, address);
  if (last == nullptr) return std::nullopt;
  const Range& range = last->second;
  return address < range.base + range.bytes ? std::optional(range)
                                            : std::nullopt;
}

bool Memory::IsDevice(const void* pointer) {
  const auto range = Find(pointer);
  return range && range->device >= 0;
}

std::vector<Range> Memory::OfDevice(int device) {
  const std::lock_guard lock(mutex_);
  std::vector<Range> found;
  for (const auto& [base, range] : ranges_) {
    if (range.device == device) found.push_back(range);
  }
  return found;
}

void Memory::Info(int device, size_t* free, size_t* total) {
  const std::lock_guard lock(mutex_);
  *total = GetSettings().profile->memory_bytes;
  *free = *total - taken_[device];
}

uint64_t Memory::TakenBytes() {
  const std::lock_guard lock(mutex_);
  return sum_;
}

uint64_t Memory::PeakBytes(Since since) {
  const std::lock_guard lock(mutex_);
  return since == Since::kReset ? peak_since_reset_ : peak_;
}

void Memory::ResetPeak() {
  const std::lock_guard lock(mutex_);
  peak_since_reset_ = sum_;
}

}  // namespace null_gpu
