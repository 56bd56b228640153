// SPDX-License-Identifier: MIT
// The driver: devices, contexts, modules, launches, and the lookup of its
// functions. libcuda.so.1 is an empty library that needs this one.

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <bit>
#include <string>
#include <utility>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/errors.h"
#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/core/memory.h"
#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/launch.h"

using null_gpu::Ask;
using null_gpu::CurrentDevice;
using null_gpu::DriverCall;
using null_gpu::IsDeviceIndex;
using null_gpu::Kernel;

namespace {

// The primary contexts; a device has one and no other. They are only addresses.
char* Contexts() {
  static auto* const contexts = new char[null_gpu::GetSettings().devices];
  return contexts;
}

CUcontext ContextOf(int device) {
  return reinterpret_cast<CUcontext>(Contexts() + device);
}

int DeviceOf(CUcontext context) {
  return static_cast<int>(reinterpret_cast<char*>(context) - Contexts());
}

// Finds the function with the newest suffix, which the macros of CUDA's header
// would add, or else without a suffix.
void* FindEntryPoint(const std::string& symbol) {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&FindEntryPoint), &self) == 0) {
    return nullptr;
  }
  void* const library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* found = nullptr;
  for (const char* suffix : {"_v3", "_v2", ""}) {
    found = dlsym(library, (symbol + suffix).c_str());
    // dlsym also looks in the libraries that this one needs.
    Dl_info info;
    if (found != nullptr && dladdr(found, &info) != 0 &&
        info.dli_fbase == self.dli_fbase) {
      break;
    }
    found = nullptr;
  }
  dlclose(library);
  return found;
}

cudaError_t EntryPoint(const char* symbol, void** function,
                       cudaDriverEntryPointQueryResult* result) {
  *function = FindEntryPoint(symbol);
  const bool found = *function != nullptr;
  if (result != nullptr) {
    *result = found ? cudaDriverEntryPointSuccess
                    : cudaDriverEntryPointSymbolNotFound;
  }
  return found ? cudaSuccess : cudaErrorSymbolNotFound;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(
    const char* symbol, void** function, unsigned, unsigned long long,
    cudaDriverEntryPointQueryResult* result) {
  return Ask<"cudaGetDriverEntryPointByVersion">(
      [&] { return EntryPoint(symbol, function, result); });
}

CUresult cuInit(unsigned) {
  return Ask<"cuInit">([] { return CUDA_SUCCESS; });
}

// The driver's private tables. Libraries that find the driver by themselves,
// such as nvrtc, ask for them but do not need them.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
  return Ask<"cuGetExportTable">([&] {
    *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
  });
}

CUresult cuDriverGetVersion(int* version) {
  return Ask<"cuDriverGetVersion">([&] {
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return Ask<"cuDeviceGetCount">([&] {
    *count = null_gpu::GetSettings().devices;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return Ask<"cuDeviceGet">([&] {
    if (!IsDeviceIndex(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                              CUdevice device) {
  return Ask<"cuDeviceGetAttribute">([&] {
    if (!IsDeviceIndex(device)) return CUDA_ERROR_INVALID_DEVICE;
    *value = null_gpu::DeviceAttribute(static_cast<cudaDeviceAttr>(attribute));
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags,
                                    int* active) {
  return Ask<"cuDevicePrimaryCtxGetState">([&] {
    *flags = 0;
    *active = null_gpu::GetMemory().HasContext(device) ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return Ask<"cuDevicePrimaryCtxRetain">([&] {
    null_gpu::GetMemory().EnsureContext(device);
    *context = ContextOf(device);
    return CUDA_SUCCESS;
  });
}

// Every thread has a context: the runtime would make it when needed.
CUresult cuCtxGetCurrent(CUcontext* context) {
  return Ask<"cuCtxGetCurrent">([&] {
    *context = ContextOf(CurrentDevice());
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return Ask<"cuCtxSetCurrent">([&] {
    if (context != nullptr) null_gpu::SetCurrentDevice(DeviceOf(context));
    return CUDA_SUCCESS;
  });
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = null_gpu::ErrorText(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = null_gpu::ErrorName(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

// For code that is compiled at run time. Modules are empty: a kernel is only a
// name.
CUresult cuModuleLoadData(CUmodule* module, const void*) {
  return DriverCall<"cuModuleLoadData">([&] {
    *module = reinterpret_cast<CUmodule>(new char);
    return cudaSuccess;
  });
}

CUresult cuModuleUnload(CUmodule module) {
  return DriverCall<"cuModuleUnload">([&] {
    delete reinterpret_cast<char*>(module);
    return cudaSuccess;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  return DriverCall<"cuModuleGetFunction">([&] {
    *function = reinterpret_cast<CUfunction>(null_gpu::NamedKernel(name));
    return cudaSuccess;
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction,
                                                     int, size_t) {
  return DriverCall<"cuOccupancyMaxActiveBlocksPerMultiprocessor">([&] {
    *blocks = 2;
    return cudaSuccess;
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                        unsigned grid_z, unsigned block_x, unsigned block_y,
                        unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** arguments, void**) {
  return DriverCall<"cuLaunchKernel">([&] {
    return null_gpu::LaunchKernel(
        reinterpret_cast<Kernel*>(function), dim3(grid_x, grid_y, grid_z),
        dim3(block_x, block_y, block_z), arguments, shared_bytes, stream);
  });
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute,
                               CUdeviceptr pointer) {
  return DriverCall<"cuPointerGetAttribute">([&] {
    const auto range =
        null_gpu::GetMemory().Find(std::bit_cast<void*>(pointer));
    if (!range || range->device < 0) return cudaErrorInvalidValue;
    switch (attribute) {
      case CU_POINTER_ATTRIBUTE_CONTEXT:
        *static_cast<CUcontext*>(value) = ContextOf(range->device);
        return cudaSuccess;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int*>(value) = range->device;
        return cudaSuccess;
      default:
        null_gpu::Die("pointer attribute " + std::to_string(attribute) +
                      " is not modelled");
    }
  });
}

}  // extern "C"
