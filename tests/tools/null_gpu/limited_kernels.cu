// SPDX-License-Identifier: MIT

#include "tests/tools/null_gpu/limited_kernels.h"

namespace null_gpu {
namespace {

__global__ void __launch_bounds__(kBound) Bounded(float* x, char, double* y) {
  x[threadIdx.x] = static_cast<float>(y[threadIdx.x]);
}

// All values are read before one is written, so each needs a register.
__global__ void ManyRegisters(volatile float* x) {
  constexpr int kValues = 200;
  float values[kValues];
#pragma unroll
  for (int i = 0; i < kValues; ++i) values[i] = x[i];
#pragma unroll
  for (int i = 0; i < kValues; ++i) x[kValues - i] = values[i];
}

__global__ void StaticShared(float* x) {
  __shared__ volatile char bytes[kStaticBytes];
  bytes[threadIdx.x] = 1;
  __syncthreads();
  x[threadIdx.x] = bytes[kStaticBytes - 1 - threadIdx.x];
}

}  // namespace

const void* BoundedKernel() { return reinterpret_cast<void*>(&Bounded); }
const void* ManyRegistersKernel() {
  return reinterpret_cast<void*>(&ManyRegisters);
}
const void* StaticSharedKernel() {
  return reinterpret_cast<void*>(&StaticShared);
}

}  // namespace null_gpu
