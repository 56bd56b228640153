// SPDX-License-Identifier: MIT
// The runtime: registering and launching kernels.

#include <cuda_runtime_api.h>

#include <vector>

#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/launch.h"

namespace null_gpu {
namespace {

struct Configuration {
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;
};

// Launch configurations between <<<...>>> and the host stub.
std::vector<Configuration>& Configurations() {
  thread_local std::vector<Configuration> configurations;
  return configurations;
}

}  // namespace

extern "C" {

// Functions that the compiler calls; no header declares all of them.

void** __cudaRegisterFatBinary(void* fat_binary) {
  return static_cast<void**>(fat_binary);
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void**) {}

char __cudaInitModule(void**) { return 0; }

void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int,
                       int) {}

void __cudaRegisterFunction(void** fat_binary, const char* host, char*,
                            const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  RegisterKernel(host, name, fat_binary);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                     CUstream_st* stream) {
  Configurations().push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block,
                                       size_t* shared_bytes, void* stream) {
  const Configuration last = Configurations().back();
  Configurations().pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = reinterpret_cast<cudaKernel_t>(FindKernel(host));
  return *kernel != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                               void** arguments, size_t shared_bytes,
                               cudaStream_t stream) {
  const auto launch = [&] {
    return LaunchKernel(reinterpret_cast<Kernel*>(kernel), grid, block,
                        arguments, shared_bytes, stream);
  };
  return Call(launch, "cudaLaunchKernel");
}

// The functions of the runtime.

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block,
                             void** arguments, size_t shared_bytes,
                             cudaStream_t stream) {
  return Call([&] {
    return LaunchKernel(FindKernel(function), grid, block, arguments,
                        shared_bytes, stream);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config,
                                const void* function, void** arguments) {
  return Call([&] {
    return LaunchKernel(FindKernel(function), config->gridDim, config->blockDim,
                        arguments, config->dynamicSmemBytes, config->stream);
  });
}

}  // extern "C"
}  // namespace null_gpu
