// SPDX-License-Identifier: MIT
// The driver: virtual memory management, which PyTorch's expandable segments
// use.

#include <cuda.h>

#include <bit>
#include <map>
#include <mutex>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/memory.h"
#include "tools/null_gpu/order/locate.h"
#include "tools/null_gpu/order/order.h"
#include "tools/null_gpu/streams/call.h"

namespace null_gpu {
namespace {

// Memory without an address. It is freed when the program has released its
// handles and unmapped it everywhere.
struct Physical {
  int device;
  size_t bytes;
  int handles = 1, mappings = 0;
};

struct Mapping {
  Physical* physical;
  size_t bytes;
};

struct VirtualMemory {
  std::mutex mutex;
  std::map<CUdeviceptr, size_t> reserved;
  std::map<CUdeviceptr, Mapping> mapped;
};

VirtualMemory& Get() {
  static auto* const memory = new VirtualMemory;
  return *memory;
}

char* Pointer(CUdeviceptr address) { return std::bit_cast<char*>(address); }

bool IsInPages(size_t bytes) { return bytes > 0 && bytes % kPageBytes == 0; }

void DropIfUnused(Physical* physical) {
  if (physical->handles > 0 || physical->mappings > 0) return;
  GetMemory().GiveBack(physical->device, physical->bytes);
  delete physical;
}

bool IsReserved(CUdeviceptr address, size_t bytes) {
  const auto* const last = LastAt(Get().reserved, address);
  return last != nullptr && address + bytes <= last->first + last->second;
}

// Whether any byte of the range is mapped.
bool IsMapped(CUdeviceptr address, size_t bytes) {
  const auto* const last = LastAt(Get().mapped, address + bytes - 1);
  return last != nullptr && last->first + last->second.bytes > address;
}

cudaError_t Create(CUmemGenericAllocationHandle* handle, size_t bytes,
                   const CUmemAllocationProp& properties) {
  const int device = properties.location.id;
  if (!IsInPages(bytes) || !IsDeviceIndex(device) ||
      properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    return cudaErrorInvalidValue;
  }
  if (const cudaError_t error = Inject("malloc", bytes).error) return error;
  GetMemory().EnsureContext(device);
  WatchCachingAllocator();
  if (const cudaError_t error = GetMemory().Take(device, bytes)) return error;
  *handle = reinterpret_cast<CUmemGenericAllocationHandle>(
      new Physical{device, bytes});
  return cudaSuccess;
}

cudaError_t Map(CUdeviceptr address, size_t bytes, Physical* physical) {
  const std::lock_guard lock(Get().mutex);
  if (!IsInPages(bytes) || bytes > physical->bytes ||
      !IsReserved(address, bytes) || IsMapped(address, bytes)) {
    return cudaErrorInvalidValue;
  }
  ++physical->mappings;
  Get().mapped[address] = {physical, bytes};
  GetMemory().Remember({Pointer(address), bytes, physical->device, bytes});
  return cudaSuccess;
}

// Only whole mappings can be unmapped.
cudaError_t Unmap(CUdeviceptr address, size_t bytes) {
  const std::lock_guard lock(Get().mutex);
  auto& mapped = Get().mapped;
  size_t found = 0;
  auto at = mapped.find(address);
  while (at != mapped.end() && at->first == address + found && found < bytes) {
    found += at->second.bytes;
    ++at;
  }
  if (found != bytes) return cudaErrorInvalidValue;
  OrderUnmap(Pointer(address), bytes);
  for (at = mapped.find(address); at != mapped.end() && found > 0;
       at = mapped.erase(at)) {
    found -= at->second.bytes;
    GetMemory().Forget(Pointer(at->first));
    --at->second.physical->mappings;
    DropIfUnused(at->second.physical);
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(size_t* granularity,
                                       const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) {
  return DriverCall([&] { *granularity = kPageBytes; });
}

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t,
                             CUdeviceptr, unsigned long long) {
  return DriverCall([&] {
    if (!IsInPages(bytes)) return cudaErrorInvalidValue;
    void* const reserved = Memory::Reserve(bytes);
    if (reserved == nullptr) return cudaErrorMemoryAllocation;
    *address = reinterpret_cast<CUdeviceptr>(reserved);
    const std::lock_guard lock(Get().mutex);
    Get().reserved[*address] = bytes;
    return cudaSuccess;
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  return DriverCall([&] {
    const std::lock_guard lock(Get().mutex);
    const auto at = Get().reserved.find(address);
    if (at == Get().reserved.end() || at->second != bytes ||
        IsMapped(address, bytes)) {
      return cudaErrorInvalidValue;
    }
    Get().reserved.erase(at);
    Memory::Unreserve(Pointer(address), bytes);
    return cudaSuccess;
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* properties,
                     unsigned long long) {
  return DriverCall([&] { return Create(handle, bytes, *properties); });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return DriverCall([&] {
    const std::lock_guard lock(Get().mutex);
    auto* const physical = std::bit_cast<Physical*>(handle);
    --physical->handles;
    DropIfUnused(physical);
  });
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t,
                  CUmemGenericAllocationHandle handle, unsigned long long) {
  return DriverCall(
      [&] { return Map(address, bytes, std::bit_cast<Physical*>(handle)); });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  return DriverCall([&] { return Unmap(address, bytes); });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes,
                        const CUmemAccessDesc*, size_t) {
  return DriverCall([&] {
    const std::lock_guard lock(Get().mutex);
    return IsMapped(address, bytes) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

}  // extern "C"
}  // namespace null_gpu
