// SPDX-License-Identifier: MIT
// LibTorch's caching allocator, which gives memory out again without a call of
// CUDA's. It tells those who ask: the only thing of LibTorch's known here.

#include <c10/cuda/CUDACachingAllocator.h>
#include <dlfcn.h>

#include <atomic>

#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/order/free.h"

namespace null_gpu {
namespace {

using c10::cuda::CUDACachingAllocator::CUDAAllocator;
using c10::cuda::CUDACachingAllocator::TraceEntry;

// The program's, if it has one. This library is in programs without LibTorch
// too, so it looks for `c10::cuda::CUDACachingAllocator::allocator`.
CUDAAllocator* FindAllocator() {
  void* const found =
      dlsym(RTLD_DEFAULT, "_ZN3c104cuda20CUDACachingAllocator9allocatorE");
  if (found == nullptr) return nullptr;
  return static_cast<std::atomic<CUDAAllocator*>*>(found)->load();
}

void Follow(const TraceEntry& entry) {
  const auto* const begin = reinterpret_cast<const void*>(entry.addr_);
  auto* const stream = static_cast<cudaStream_t>(entry.stream_);
  // Blocks of a graph's pool go to captures only, in whose graphs nodes are
  // held against each other.
  const bool is_shared = entry.mempool_ == c10::MempoolId_t{0, 0};
  if (entry.action_ == TraceEntry::ALLOC) {
    OrderBlock(begin, entry.size_);
  } else if (entry.action_ == TraceEntry::FREE_COMPLETED) {
    OrderBlockEnd(begin);
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
