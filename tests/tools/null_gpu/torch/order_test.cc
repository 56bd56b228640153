// SPDX-License-Identifier: MIT
// Planted ordering bugs in a program that uses LibTorch. Its caching allocator
// reuses memory without calling CUDA.

#include <ATen/ops/ones.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include <cstdlib>
#include <optional>
#include <string_view>

#include "tests/support/cuda_test.h"

namespace trainbench {
namespace {

bool IsOrderChecked() {
  const char* const checked = std::getenv("TRAINBENCH_NULL_GPU_ORDER");
  return checked != nullptr && std::string_view(checked) == "1";
}

class CudaOrderDeathTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped()) return;
    if (!IsOrderChecked()) GTEST_SKIP() << "nobody looks at the order";
    // The host waits, so the values are ordered before the test's work.
    other_ = c10::cuda::getStreamFromPool();
    x_ = at::ones({1024}, at::kCUDA);
    c10::cuda::device_synchronize();
  }

  // Runs on another stream, which does not wait for the current one.
  at::Tensor Elsewhere(const at::Tensor& x) {
    const c10::cuda::CUDAStreamGuard guard(*other_);
    return x + 1;
  }

  at::Tensor x_;
  std::optional<c10::cuda::CUDAStream> other_;
};

TEST_F(CudaOrderDeathTest, AStreamReadsWhatAnotherWrites) {
  x_.add_(1);
  EXPECT_DEATH(Elsewhere(x_), "nothing orders the two");
  c10::cuda::device_synchronize();
  Elsewhere(x_);
  c10::cuda::device_synchronize();
}

TEST_F(CudaOrderDeathTest, ABlockIsFreedWhileAnotherStreamReadsIt) {
  Elsewhere(x_);
  EXPECT_DEATH(x_.reset(), "memory is freed .* nothing orders the two");
  c10::cuda::CUDACachingAllocator::recordStream(x_.storage().data_ptr(),
                                                *other_);
  x_.reset();
}

}  // namespace
}  // namespace trainbench
