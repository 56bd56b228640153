// SPDX-License-Identifier: MIT
// The driver: devices, contexts, modules, launches, and the lookup of its
// functions. libcuda.so.1 is an empty library that needs this one.

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <string>
#include <utility>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/errors.h"
#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/core/memory.h"
#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/launch.h"

// They are only addresses.
struct CUctx_st {};
struct CUmod_st {};

namespace null_gpu {
namespace {

constexpr CUresult kInvalidDevice = CUDA_ERROR_INVALID_DEVICE;

// The primary contexts; a device has one and no other.
CUctx_st contexts[kMostDevices];

CUcontext ContextOf(int device) { return &contexts[device]; }

int DeviceOf(CUcontext context) {
  return static_cast<int>(context - &contexts[0]);
}

// Finds the function with the newest suffix, which the macros of CUDA's header
// would add, or else without a suffix.
void* FindEntryPoint(const std::string& symbol) {
  Dl_info self, info;
  if (dladdr(reinterpret_cast<void*>(&FindEntryPoint), &self) == 0) {
    return nullptr;
  }
  for (const char* suffix : {"_v3", "_v2", ""}) {
    void* const found = dlsym(RTLD_DEFAULT, (symbol + suffix).c_str());
    // Other libraries may have functions that this one lacks.
    if (found != nullptr && dladdr(found, &info) != 0 &&
        info.dli_fbase == self.dli_fbase) {
      return found;
    }
  }
  return nullptr;
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
  return Ask([&] { return EntryPoint(symbol, function, result); });
}

// The driver's private tables. Libraries that find the driver by themselves,
// such as nvrtc, ask for them but do not need them.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
  return Ask([&] {
    *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
  });
}

CUresult cuDriverGetVersion(int* version) {
  return Ask([&] { *version = CUDA_VERSION; });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return AskAbout<kInvalidDevice>(ordinal, [&] { *device = ordinal; });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                              CUdevice device) {
  return AskAbout<kInvalidDevice>(device, [&] {
    *value = DeviceAttribute(static_cast<cudaDeviceAttr>(attribute), device);
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags,
                                    int* active) {
  return AskAbout<kInvalidDevice>(device, [&] {
    *flags = 0;
    *active = GetMemory().HasContext(device) ? 1 : 0;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return AskAbout<kInvalidDevice>(device, [&] {
    GetMemory().EnsureContext(device);
    *context = ContextOf(device);
  });
}

// Every thread has a context: the runtime would make it when needed.
CUresult cuCtxGetCurrent(CUcontext* context) {
  return Ask([&] { *context = ContextOf(CurrentDevice()); });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return Ask([&] {
    if (context != nullptr) SetCurrentDevice(DeviceOf(context));
  });
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = ErrorText(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = ErrorName(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

// For code that is compiled at run time. Modules are empty: a kernel is only a
// name.
CUresult cuModuleLoadData(CUmodule* module, const void*) {
  return DriverCall([&] { *module = new CUmod_st; });
}

CUresult cuModuleUnload(CUmodule module) {
  return DriverCall([&] { delete module; });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  return DriverCall(
      [&] { *function = reinterpret_cast<CUfunction>(NamedKernel(name)); });
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                        unsigned grid_z, unsigned block_x, unsigned block_y,
                        unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** arguments, void**) {
  return DriverCall([&] {
    return LaunchKernel(
        reinterpret_cast<Kernel*>(function), dim3(grid_x, grid_y, grid_z),
        dim3(block_x, block_y, block_z), arguments, shared_bytes, stream);
  });
}

}  // extern "C"
}  // namespace null_gpu
