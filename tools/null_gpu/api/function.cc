// SPDX-License-Identifier: MIT
// Runtime and driver: attributes and limits of kernels.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/streams/call.h"

namespace null_gpu {
namespace {

// Lets launches on the current device use up to `bytes` of shared memory.
cudaError_t AllowShared(Kernel* kernel, int bytes) {
  const int device = CurrentDevice();
  const size_t most = DeviceProperties(device).sharedMemPerBlockOptin;
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  const size_t fixed = NeedsOf(kernel).shared_bytes;
  if (bytes < 0 || static_cast<size_t>(bytes) + fixed > most) {
    return cudaErrorInvalidValue;
  }
  kernel->shared_bytes[device] = static_cast<size_t>(bytes);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                  const void* function) {
  return Call([&] {
    const KernelNeeds& needs = NeedsOf(FindKernel(function));
    const cudaDeviceProp properties = DeviceProperties(0);
    *attributes = {};
    attributes->maxThreadsPerBlock =
        static_cast<int>(std::min(needs.most_threads, MostThreads(needs)));
    attributes->numRegs =
        needs.registers > 0 ? static_cast<int>(needs.registers) : 32;
    attributes->sharedSizeBytes = needs.shared_bytes;
    attributes->binaryVersion = 10 * properties.major + properties.minor;
    attributes->ptxVersion = attributes->binaryVersion;
    attributes->maxDynamicSharedSizeBytes =
        static_cast<int>(properties.sharedMemPerBlockOptin);
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute which,
                                 int value) {
  return Call([&] {
    return which == cudaFuncAttributeMaxDynamicSharedMemorySize
               ? AllowShared(FindKernel(function), value)
               : cudaSuccess;
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which,
                            int value) {
  return DriverCall([&] {
    return which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
               ? AllowShared(reinterpret_cast<Kernel*>(function), value)
               : cudaSuccess;
  });
}

// Assumes that registers and shared memory always leave room for two.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void*,
                                                                   int, size_t,
                                                                   unsigned) {
  return Call([&] { *blocks = 2; });
}

}  // extern "C"
}  // namespace null_gpu
