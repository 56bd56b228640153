// SPDX-License-Identifier: MIT
// The fused operations on a GPU, or on a null GPU that holds values and runs
// our kernels in the emulator. There LibTorch's kernels leave memory unchanged:
// a test states how many of them it launches and does not check their results.

#ifndef TRAINBENCH_TESTS_MODEL_FUSED_CUDA_FIXTURE_H_
#define TRAINBENCH_TESTS_MODEL_FUSED_CUDA_FIXTURE_H_

#include <dlfcn.h>
#include <torch/types.h>

#include <cstdint>

#include "tests/model/fused/comparison.h"
#include "tests/model/kernels/emulated.h"
#include "tests/support/cuda_test.h"
#include "tools/null_gpu/null_gpu.h"

namespace trainbench {

class CudaFusedTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped()) return;
    at::manual_seed(1);
    emulated_ = kernels::EmulatedKernels::Install();
    ResetCounters();
  }
  void TearDown() override { ExpectKernelsOfLibTorch(0); }

  bool emulated() const { return emulated_; }
  // Expects `count` kernels since the last call; in the emulator no error and
  // no bank conflict.
  // Does nothing on a real GPU.
  void ExpectKernelsOfLibTorch(int64_t count) {
    if (!emulated_) return;
    auto* const counted = NullGpu<decltype(trainbench_null_gpu_count)>(
        "trainbench_null_gpu_count");
    auto launches = static_cast<int64_t>(counted("launches"));
    for (const auto& launch : kernels::EmulatedKernels::Take()) {
      EXPECT_EQ(launch.wrong, "") << launch.kernel;
      EXPECT_EQ(launch.bank_conflicts, 0) << launch.kernel;
      --launches;
    }
    EXPECT_EQ(launches, count);
    ResetCounters();
  }

  // Resets the emulator's counts of launches. Does nothing on a real GPU.
  void ResetCounters() const {
    if (!emulated_) return;
    kernels::EmulatedKernels::Take();
    NullGpu<decltype(trainbench_null_gpu_reset)>("trainbench_null_gpu_reset")();
  }

  static at::Tensor ToDevice(const at::Tensor& host) {
    return Copy(host, at::kCUDA);
  }
  static at::Tensor ToHost(const at::Tensor& device) {
    return Copy(device, at::kCPU);
  }

  void ExpectFormula(const FusedCase& c) const {
    trainbench::ExpectFormula({.to_device = ToDevice,
                               .to_host = ToHost,
                               .tolerance = Tolerance,
                               .emulated = emulated_},
                              c);
  }

  // The tolerance for results that are rounded a few times.
  static double Tolerance(at::ScalarType dtype) {
    return dtype == at::kFloat ? 4e-6 : 8e-3;
  }

 private:
  // Returns a function of the null GPU, which is preloaded.
  template <typename Function>
  static Function* NullGpu(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  }

  // Copies the whole storage, for which LibTorch needs no kernel.
  static at::Tensor Copy(const at::Tensor& x, at::DeviceType device) {
    const auto elements = static_cast<int64_t>(x.storage().nbytes()) /
                          static_cast<int64_t>(x.element_size());
    return x.detach()
        .as_strided({elements}, {1}, 0)
        .to(device, /*non_blocking=*/false, /*copy=*/true)
        .as_strided(x.sizes(), x.strides(), x.storage_offset());
  }

  bool emulated_ = false;
};

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_MODEL_FUSED_CUDA_FIXTURE_H_
