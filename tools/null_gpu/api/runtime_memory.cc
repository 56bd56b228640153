// SPDX-License-Identifier: MIT
// The runtime: memory of the devices and pinned memory of the host.

#include <cuda_runtime_api.h>

#include <cstdlib>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/memory.h"
#include "tools/null_gpu/order/locate.h"
#include "tools/null_gpu/order/order.h"
#include "tools/null_gpu/streams/call.h"

namespace null_gpu {
namespace {

constexpr int kHost = -1;
constexpr size_t kHostPage = 4096;

cudaError_t Allocate(void** pointer, size_t bytes) {
  if (const cudaError_t error = Inject("malloc", bytes).error) return error;
  WatchCachingAllocator();
  return GetMemory().Allocate(CurrentDevice(), bytes, pointer);
}

cudaError_t AllocateHost(void** pointer, size_t bytes) {
  if (const cudaError_t error = Inject("host_malloc", bytes).error) {
    return error;
  }
  const size_t rounded = (bytes + kHostPage - 1) / kHostPage * kHostPage;
  *pointer = std::aligned_alloc(kHostPage, rounded);
  if (*pointer == nullptr) return cudaErrorMemoryAllocation;
  GetMemory().Remember({static_cast<char*>(*pointer), rounded, kHost, bytes});
  return cudaSuccess;
}

cudaError_t FreeHost(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  const auto range = GetMemory().Find(pointer);
  if (!range || range->device != kHost || !GetMemory().Forget(pointer)) {
    return cudaErrorInvalidValue;
  }
  OrderFree(range->base, range->bytes, kHost);
  std::free(pointer);
  return cudaSuccess;
}

// Waits for the memory's device before freeing it.
cudaError_t Free(void* pointer) {
  const auto range = GetMemory().Find(pointer);
  if (range && range->device >= 0) {
    WaitForWork(range->device);
    OrderFree(range->base, range->bytes, range->device);
  }
  return GetMemory().Free(pointer);
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return UnsafeCall([&] { return Allocate(pointer, bytes); });
}

cudaError_t cudaFree(void* pointer) {
  return UnsafeCall([&] { return Free(pointer); });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return Call([&] { GetMemory().Info(CurrentDevice(), free, total); });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  return UnsafeCall([&] { return AllocateHost(pointer, bytes); });
}

cudaError_t cudaFreeHost(void* pointer) {
  return UnsafeCall([&] { return FreeHost(pointer); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                     const void* pointer) {
  return Call([&] {
    *attributes = {};
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = CurrentDevice();
    const auto range = GetMemory().Find(pointer);
    if (!range) return;
    auto* const address = const_cast<void*>(pointer);
    attributes->devicePointer = address;
    if (range->device >= 0) {
      attributes->type = cudaMemoryTypeDevice;
      attributes->device = range->device;
    } else {
      attributes->type = cudaMemoryTypeHost;
      attributes->hostPointer = address;
    }
  });
}

}  // extern "C"
}  // namespace null_gpu
