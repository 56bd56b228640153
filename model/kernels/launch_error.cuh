// SPDX-License-Identifier: MIT
// Explains why CUDA rejected a launch. CUDA's message omits kernel and limits.

#ifndef TRAINBENCH_MODEL_KERNELS_LAUNCH_ERROR_CUH_
#define TRAINBENCH_MODEL_KERNELS_LAUNCH_ERROR_CUH_

#include <cuda_runtime_api.h>
#include <cxxabi.h>

#include <cstdlib>
#include <string>

#include "model/kernels/device.h"

namespace trainbench::kernels {

// `mangled` is the name() of a type_info.
inline std::string Demangled(const char* mangled) {
  char* const name = abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr);
  const std::string result = name == nullptr ? mangled : name;
  std::free(name);
  return result;
}

// "1024", or "?" if a lost device does not respond.
inline std::string LimitOf(cudaDeviceAttr limit) {
  int device = 0, value = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&value, limit, device) != cudaSuccess) {
    return "?";
  }
  return std::to_string(value);
}

// "CUDA error: invalid argument at the launch of <kernel>: 8 blocks of 256
// threads and 148480 bytes of shared memory each; this GPU allows ...". Earlier
// work may have caused the error, as CUDA reports errors asynchronously.
inline std::string LaunchError(cudaError_t error, const char* mangled,
                               const Grid& grid) {
  return std::string("CUDA error: ") + cudaGetErrorString(error) +
         " at the launch of " + Demangled(mangled) + ": " +
         std::to_string(grid.blocks) + " blocks of " +
         std::to_string(grid.threads) + " threads and " +
         std::to_string(grid.shared_bytes) +
         " bytes of shared memory each; this GPU allows " +
         LimitOf(cudaDevAttrMaxGridDimX) + " blocks of " +
         LimitOf(cudaDevAttrMaxThreadsPerBlock) + " threads and " +
         LimitOf(cudaDevAttrMaxSharedMemoryPerBlockOptin) + " bytes";
}

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_LAUNCH_ERROR_CUH_
