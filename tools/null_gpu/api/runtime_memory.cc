// SPDX-License-Identifier: MIT
// The runtime: memory of the devices and pinned memory of the host.

#include <cuda_runtime_api.h>

#include <cstdlib>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/memory.h"
#include "tools/null_gpu/order/free.h"
#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/capture.h"
#include "tools/null_gpu/streams/stream.h"

using null_gpu::Call;
using null_gpu::CurrentDevice;
using null_gpu::GetMemory;
using null_gpu::Inject;
using null_gpu::Returns;

namespace {

constexpr int kHost = -1;
constexpr size_t kHostPage = 4096;

cudaError_t Allocate(void** pointer, size_t bytes) {
  const auto fault = Inject("malloc", bytes, Returns::kWhenDone);
  if (fault.error != cudaSuccess) return fault.error;
  null_gpu::WatchCachingAllocator();
  return GetMemory().Allocate(CurrentDevice(), bytes, pointer);
}

cudaError_t AllocateHost(void** pointer, size_t bytes) {
  const auto fault = Inject("host_malloc", bytes, Returns::kWhenDone);
  if (fault.error != cudaSuccess) return fault.error;
  const size_t rounded = (bytes + kHostPage - 1) / kHostPage * kHostPage;
  *pointer = std::aligned_alloc(kHostPage, rounded);
  if (*pointer == nullptr) return cudaErrorMemoryAllocation;
  GetMemory().Remember({static_cast<char*>(*pointer), rounded, kHost, bytes});
  null_gpu::GetCounters().host_allocations.Add();
  null_gpu::GetCounters().host_allocated_bytes.Add(bytes);
  return cudaSuccess;
}

cudaError_t FreeHost(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  const auto range = GetMemory().Find(pointer);
  if (!GetMemory().Forget(pointer)) return cudaErrorInvalidValue;
  null_gpu::OrderFree(pointer, range->bytes, kHost);
  std::free(pointer);
  return cudaSuccess;
}

// Waits for the memory's device before freeing it.
cudaError_t Free(void* pointer) {
  const auto range = GetMemory().Find(pointer);
  if (range && range->device >= 0) {
    null_gpu::WaitFor([&] {
      const std::lock_guard lock(null_gpu::StreamMutex());
      return null_gpu::ReadyTime(range->device);
    });
    null_gpu::OrderFree(range->base, range->bytes, range->device);
  }
  return GetMemory().Free(pointer);
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return Call<"cudaMalloc">([&] {
    const cudaError_t error = null_gpu::CheckUnsafe();
    return error != cudaSuccess ? error : Allocate(pointer, bytes);
  });
}

cudaError_t cudaFree(void* pointer) {
  return Call<"cudaFree">([&] {
    const cudaError_t error = null_gpu::CheckUnsafe();
    return error != cudaSuccess ? error : Free(pointer);
  });
}

// Pools do not keep freed memory here.
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) {
  return Call<"cudaMallocAsync">([&] { return Allocate(pointer, bytes); });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return Call<"cudaFreeAsync">([&] {
    const auto range = GetMemory().Find(pointer);
    if (range) null_gpu::OrderFreeAsync(range->base, range->bytes, stream);
    return GetMemory().Free(pointer);
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return Call<"cudaMemGetInfo">([&] {
    GetMemory().Info(CurrentDevice(), free, total);
    return cudaSuccess;
  });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  return Call<"cudaHostAlloc">([&] {
    const cudaError_t error = null_gpu::CheckUnsafe();
    return error != cudaSuccess ? error : AllocateHost(pointer, bytes);
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  return Call<"cudaFreeHost">([&] {
    const cudaError_t error = null_gpu::CheckUnsafe();
    return error != cudaSuccess ? error : FreeHost(pointer);
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  return Call<"cudaHostRegister">([&] {
    if (GetMemory().Find(pointer)) return cudaErrorHostMemoryAlreadyRegistered;
    GetMemory().Remember({static_cast<char*>(pointer), bytes, kHost, bytes});
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return Call<"cudaHostUnregister">([&] {
    return GetMemory().Forget(pointer) ? cudaSuccess
                                       : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return Call<"cudaHostGetDevicePointer">([&] {
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                     const void* pointer) {
  return Call<"cudaPointerGetAttributes">([&] {
    *attributes = {};
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = CurrentDevice();
    const auto range = GetMemory().Find(pointer);
    if (!range) return cudaSuccess;
    auto* const address = const_cast<void*>(pointer);
    attributes->devicePointer = address;
    if (range->device >= 0) {
      attributes->type = cudaMemoryTypeDevice;
      attributes->device = range->device;
    } else {
      attributes->type = cudaMemoryTypeHost;
      attributes->hostPointer = address;
    }
    return cudaSuccess;
  });
}

}  // extern "C"
