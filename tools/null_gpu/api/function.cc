// SPDX-License-Identifier: MIT
// Runtime and driver: attributes and limits of kernels.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/streams/call.h"

using null_gpu::Call;
using null_gpu::Kernel;
using null_gpu::KernelNeeds;

namespace {

// Returns the kernel's needs, or defaults if they are unknown.
KernelNeeds NeedsOf(const Kernel* kernel) {
  const KernelNeeds* const known =
      kernel != nullptr ? kernel->needs.load() : nullptr;
  return known != nullptr ? *known : KernelNeeds();
}

// Lets launches on the current device use up to `bytes` of shared memory.
cudaError_t AllowShared(Kernel* kernel, int bytes) {
  const int device = null_gpu::CurrentDevice();
  const size_t most = null_gpu::DeviceProperties(device).sharedMemPerBlockOptin;
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
  return Call<"cudaFuncGetAttributes">([&] {
    const KernelNeeds needs = NeedsOf(null_gpu::FindKernel(function));
    const cudaDeviceProp properties = null_gpu::DeviceProperties(0);
    *attributes = {};
    attributes->maxThreadsPerBlock = static_cast<int>(
        std::min(needs.most_threads, null_gpu::MostThreads(needs)));
    attributes->numRegs =
        needs.registers > 0 ? static_cast<int>(needs.registers) : 32;
    attributes->sharedSizeBytes = needs.shared_bytes;
    attributes->binaryVersion = 10 * properties.major + properties.minor;
    attributes->ptxVersion = attributes->binaryVersion;
    attributes->maxDynamicSharedSizeBytes =
        static_cast<int>(properties.sharedMemPerBlockOptin);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute which,
                                 int value) {
  return Call<"cudaFuncSetAttribute">([&] {
    return which == cudaFuncAttributeMaxDynamicSharedMemorySize
               ? AllowShared(null_gpu::FindKernel(function), value)
               : cudaSuccess;
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which,
                            int value) {
  return null_gpu::DriverCall<"cuFuncSetAttribute">([&] {
    return which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
               ? AllowShared(reinterpret_cast<Kernel*>(function), value)
               : cudaSuccess;
  });
}

// Assumes that registers and shared memory always leave room for two blocks.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                          const void*, int,
                                                          size_t) {
  return Call<"cudaOccupancyMaxActiveBlocksPerMultiprocessor">([&] {
    *blocks = 2;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void*,
                                                                   int, size_t,
                                                                   unsigned) {
  return Call<"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags">([&] {
    *blocks = 2;
    return cudaSuccess;
  });
}

}  // extern "C"
