// SPDX-License-Identifier: MIT
// Errors that a null GPU finds in launches.

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime_api.h>
#include <torch/types.h>

#include <cstdint>

#include "model/fused/softmax.h"
#include "model/kernels/launchers.h"
#include "tests/model/c10_error.h"
#include "tests/model/fused/cuda/fixture.h"
#include "tests/model/kernels/emulated.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

class EmulatedLaunchTest : public CudaFusedTest {
 protected:
  void SetUp() override {
    CudaFusedTest::SetUp();
    ASSERT_TRUE(emulated()) << "no null GPU is preloaded";
  }

  static at::Tensor Random(at::IntArrayRef sizes) {
    return ToDevice(at::randn(sizes));
  }
};

TEST_F(EmulatedLaunchTest, ATensorTooSmallIsFound) {
  const at::Tensor logits = Random({4, 40}), losses = Random({4});
  const at::Tensor targets = ToDevice(at::zeros({5}, at::kLong));
  EXPECT_EQ(kernels::Launch(
                kernels::CrossEntropyForwardArgs{
                    .dtype = kernels::Dtype::kFloat32,
                    .rows = 5,
                    .columns = 40,
                    .scale = 1,
                    .gradient = false,
                    .targets = targets.const_data_ptr<int64_t>(),
                    .logits = logits.data_ptr(),
                    .losses = losses.data_ptr<float>()},
                at::cuda::getCurrentCUDAStream()),
            "");
  const auto launches = kernels::EmulatedKernels::Take();
  ASSERT_THAT(launches, SizeIs(1));
  EXPECT_THAT(launches[0].wrong, HasSubstr("leaves the tensors"));
  ResetCounters();
}

TEST_F(EmulatedLaunchTest, AnArgumentThatIsNotAllowedIsNamed) {
  kernels::SoftmaxForwardArgs args = {};
  EXPECT_EQ(kernels::Launch(args, at::cuda::getCurrentCUDAStream()),
            "matrices times seq must be in [1, 2^31)");
}

TEST_F(EmulatedLaunchTest, WhatCudaRefusesIsNamedWithTheLimits) {
  const at::Tensor scores = Random({3, 64, 64});
  // The legacy stream must not be used while such a stream captures.
  cudaStream_t capturing = nullptr;
  cudaGraph_t graph = nullptr;
  C10_CUDA_CHECK(cudaStreamCreate(&capturing));
  C10_CUDA_CHECK(
      cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed));
  EXPECT_THAT(ErrorOf([&] { CausalSoftmax(scores, 1); }),
              AllOf(HasSubstr("CUDA error: "),
                    HasSubstr(" at the launch of "
                              "trainbench::kernels::SoftmaxForwardKernel<"),
                    ContainsRegex("[0-9]+ blocks of [0-9]+ threads and [0-9]+ "
                                  "bytes of shared memory each; this GPU "
                                  "allows 2147483647 blocks of 1024 threads "
                                  "and 232448 bytes")));
  EXPECT_NE(cudaStreamEndCapture(capturing, &graph), cudaSuccess);
  (void)cudaGetLastError();
  C10_CUDA_CHECK(cudaStreamDestroy(capturing));
}

}  // namespace
}  // namespace trainbench
