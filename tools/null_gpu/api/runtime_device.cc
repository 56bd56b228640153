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
#include "tools/null_gpu/streams/capture.h"
#include "tools/null_gpu/streams/stream.h"

using null_gpu::Ask;
using null_gpu::Call;
using null_gpu::CurrentDevice;
using null_gpu::IsDeviceIndex;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return Ask<"cudaGetDeviceCount">([&] {
    *count = null_gpu::GetSettings().devices;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return Ask<"cudaGetDevice">([&] {
    *device = CurrentDevice();
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return Ask<"cudaSetDevice">([&] {
    if (!IsDeviceIndex(device)) {
      null_gpu::SetLastError(cudaErrorInvalidDevice);
      return cudaErrorInvalidDevice;
    }
    null_gpu::SetCurrentDevice(device);
    null_gpu::GetMemory().EnsureContext(device);
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return Ask<"cudaGetDeviceProperties">([&] {
    if (!IsDeviceIndex(device)) return cudaErrorInvalidDevice;
    *properties = null_gpu::DeviceProperties(device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute,
                                   int device) {
  return Ask<"cudaDeviceGetAttribute">([&] {
    if (!IsDeviceIndex(device)) return cudaErrorInvalidDevice;
    *value = null_gpu::DeviceAttribute(attribute);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return Ask<"cudaDeviceGetStreamPriorityRange">([&] {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return Ask<"cudaDeviceGetPCIBusId">([&] {
    if (!IsDeviceIndex(device)) return cudaErrorInvalidDevice;
    std::snprintf(text, static_cast<size_t>(bytes), "0000:%02X:00.0",
                  static_cast<unsigned>(device) + 1);
    return cudaSuccess;
  });
}

// All devices can access each other, as with NVLink.
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return Ask<"cudaDeviceCanAccessPeer">([&] {
    if (!IsDeviceIndex(device) || !IsDeviceIndex(peer)) {
      return cudaErrorInvalidDevice;
    }
    *can = device != peer ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return Call<"cudaDeviceSynchronize">([] {
    null_gpu::GetCounters().waits.Add();
    const auto fault =
        null_gpu::Inject("synchronize", 0, null_gpu::Returns::kWhenDone);
    if (fault.error != cudaSuccess) return fault.error;
    const int device = CurrentDevice();
    {
      const std::lock_guard lock(null_gpu::StreamMutex());
      const cudaError_t error = null_gpu::CheckDeviceWait(device);
      if (error != cudaSuccess) return error;
    }
    null_gpu::WaitFor([device] {
      const std::lock_guard lock(null_gpu::StreamMutex());
      return null_gpu::ReadyTime(device);
    });
    {
      const std::lock_guard lock(null_gpu::StreamMutex());
      null_gpu::OrderHostAfterDevice(device);
    }
    return null_gpu::StickyError();
  });
}

// Frees the device's memory. After a sticky error the process remains without
// the device: it must not rely on more from a real one.
cudaError_t cudaDeviceReset() {
  return Ask<"cudaDeviceReset">([] {
    null_gpu::GetMemory().Release(CurrentDevice());
    return null_gpu::StickyError();
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return Ask<"cudaDriverGetVersion">([&] {
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return Ask<"cudaRuntimeGetVersion">([&] {
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

cudaError_t cudaGetLastError() {
  return Ask<"cudaGetLastError">([] { return null_gpu::TakeLastError(); });
}

cudaError_t cudaPeekAtLastError() {
  return Ask<"cudaPeekAtLastError">([] { return null_gpu::PeekLastError(); });
}

const char* cudaGetErrorName(cudaError_t error) {
  return null_gpu::ErrorName(error);
}

const char* cudaGetErrorString(cudaError_t error) {
  return null_gpu::ErrorText(error);
}

}  // extern "C"
