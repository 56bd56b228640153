// SPDX-License-Identifier: MIT
// Follows LibTorch's caching allocator, which reuses memory without calling
// CUDA, by its trackers: the only part of LibTorch used here.

#include <c10/cuda/CUDACachingAllocator.h>
#include <dlfcn.h>

#include <atomic>

#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/order/locate.h"
#include "tools/null_gpu/order/order.h"

namespace null_gpu {
namespace {

using c10::cuda::CUDACachingAllocator::CUDAAllocator;
using c10::cuda::CUDACachingAllocator::TraceEntry;

// Returns the program's allocator, if any. Programs without LibTorch have none,
// so this looks up `c10::cuda::CUDACachingAllocator::allocator`.
CUDAAllocator* FindAllocator() {
  void* const found =
      dlsym(RTLD_DEFAULT, "_ZN3c104cuda20CUDACachingAllocator9allocatorE");
  if (found == nullptr) return nullptr;
  return static_cast<std::atomic<CUDAAllocator*>*>(found)->load();
}

void Follow(const TraceEntry& entry) {
  const auto* const begin = reinterpret_cast<const char*>(entry.addr_);
  auto* const stream = static_cast<cudaStream_t>(entry.stream_);
  // Blocks of a graph's pool are used only in captures; OrderGraph checks
  // these.
  const bool is_shared = entry.mempool_ == c10::MempoolId_t{0, 0};
  if (entry.action_ == TraceEntry::ALLOC) {
    AddBlock(begin, entry.size_);
  } else if (entry.action_ == TraceEntry::FREE_COMPLETED) {
    RemoveBlock(begin);
    if (is_shared) OrderBlockFree(begin, entry.size_, entry.device_, stream);
  }
}

}  // namespace

void WatchCachingAllocator() {
  static std::atomic<bool> is_watched{false};
  if (!GetSettings().watches_memory() || is_watched) return;
  CUDAAllocator* const allocator = FindAllocator();
  // "native" is the one that caches; others cannot be watched.
  if (allocator == nullptr || !allocator->initialized() ||
      allocator->name() != "native" || is_watched.exchange(true)) {
    return;
  }
  allocator->attachAllocatorTraceTracker(&Follow);
}

}  // namespace null_gpu
