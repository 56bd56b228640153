// SPDX-License-Identifier: MIT

#include "tests/model/fused/cuda/fixture.h"

#include <dlfcn.h>

#include "fixtures/device/cuda_support.h"
#include "tests/model/kernels/emulated.h"
#include "tools/null_gpu/null_gpu.h"

namespace trainbench {
namespace {

using kernels::EmulatedKernels;

// Returns a function of the null GPU, which is preloaded.
template <typename Function>
Function* NullGpu(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

at::Tensor On(at::DeviceType device, const at::Tensor& x) {
  const auto elements = static_cast<int64_t>(x.storage().nbytes()) /
                        static_cast<int64_t>(x.element_size());
  return x.detach()
      .as_strided({elements}, {1}, 0)
      .to(device, /*non_blocking=*/false, /*copy=*/true)
      .as_strided(x.sizes(), x.strides(), x.storage_offset());
}

}  // namespace

void CudaFusedTest::SetUp() {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << "no CUDA device";
  at::manual_seed(1);
  emulated_ = EmulatedKernels::Install();
  if (emulated_) ResetCounters();
}

void CudaFusedTest::ResetCounters() {
  EmulatedKernels::Take();
  NullGpu<decltype(trainbench_null_gpu_reset)>("trainbench_null_gpu_reset")();
}

void CudaFusedTest::ExpectKernelsOfLibTorch(int64_t count) {
  if (!emulated_) return;
  auto* const counted =
      NullGpu<decltype(trainbench_null_gpu_count)>("trainbench_null_gpu_count");
  auto kernels = static_cast<int64_t>(counted("launches"));
  for (const EmulatedKernels::Launch& launch : EmulatedKernels::Take()) {
    EXPECT_EQ(launch.wrong, "") << launch.kernel;
    --kernels;
  }
  EXPECT_EQ(kernels, count);
  ResetCounters();
}

at::Tensor CudaFusedTest::ToDevice(const at::Tensor& host) {
  return On(at::kCUDA, host);
}

at::Tensor CudaFusedTest::ToHost(const at::Tensor& device) {
  return On(at::kCPU, device);
}

}  // namespace trainbench
