// SPDX-License-Identifier: MIT
// The runtime: devices, versions, errors.

#include <cuda_runtime_api.h>

#include <cstdio>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/errors.h"
#include "tools/null_gpu/core/memory.h"
#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/order/order.h"
#include "tools/null_gpu/streams/call.h"

namespace null_gpu {
namespace {

constexpr cudaError_t kNoDevice = cudaErrorInvalidDevice;

cudaError_t WaitForDevice(int device) {
  GetCounters().waits.Add();
  {
    const std::lock_guard lock(StreamMutex());
    if (const cudaError_t error = CheckDeviceWait(device)) return error;
  }
  WaitForWork(device);
  const std::lock_guard lock(StreamMutex());
  OrderHostAfterDevice(device);
  return StickyError();
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return Ask([&] { *count = GetSettings().devices; });
}

cudaError_t cudaGetDevice(int* device) {
  return Ask([&] { *device = CurrentDevice(); });
}

cudaError_t cudaSetDevice(int device) {
  return Ask([&] {
    if (!IsDeviceIndex(device)) {
      SetLastError(kNoDevice);
      return kNoDevice;
    }
    SetCurrentDevice(device);
    GetMemory().EnsureContext(device);
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return AskAbout<kNoDevice>(device,
                             [&] { *properties = DeviceProperties(device); });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute,
                                   int device) {
  return AskAbout<kNoDevice>(
      device, [&] { *value = DeviceAttribute(attribute, device); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return Ask([&] {
    *least = 0;
    *greatest = -5;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return AskAbout<kNoDevice>(device, [&] {
    std::snprintf(
        text, static_cast<size_t>(bytes), "0000:%02X:00.0",
        static_cast<unsigned>(DeviceAttribute(cudaDevAttrPciBusId, device)));
  });
}

cudaError_t cudaDeviceSynchronize() {
  return Call([] { return WaitForDevice(CurrentDevice()); });
}

// Frees the device's memory. After a sticky error the process remains without
// the device: it must not rely on more from a real one.
cudaError_t cudaDeviceReset() {
  return Ask([] {
    GetMemory().Release(CurrentDevice());
    return StickyError();
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return Ask([&] { *version = CUDART_VERSION; });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return Ask([&] { *version = CUDART_VERSION; });
}

cudaError_t cudaGetLastError() {
  return Ask([] { return TakeLastError(); });
}

cudaError_t cudaPeekAtLastError() {
  return Ask([] { return PeekLastError(); });
}

const char* cudaGetErrorName(cudaError_t error) { return ErrorName(error); }

const char* cudaGetErrorString(cudaError_t error) { return ErrorText(error); }

}  // extern "C"
}  // namespace null_gpu
