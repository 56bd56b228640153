// SPDX-License-Identifier: MIT
// Errors that a null GPU finds in launches, and its replay of graphs.

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>
#include <torch/types.h>

#include <functional>
#include <string>
#include <utility>

#include "model/fused/attention.h"
#include "model/fused/rms_norm.h"
#include "model/fused/softmax.h"
#include "model/fused/swiglu.h"
#include "model/kernels/launchers.h"
#include "model/verification/relative_error.h"
#include "tests/model/c10_error.h"
#include "tests/model/fused/cuda/fixture.h"
#include "tests/model/kernels/emulated.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

using kernels::EmulatedKernels;
using kernels::Grid;

class EmulatedLaunchTest : public CudaFusedTest {
 protected:
  void SetUp() override {
    CudaFusedTest::SetUp();
    ASSERT_TRUE(emulated()) << "no null GPU is preloaded";
  }

  // Returns the errors of an operation with spoiled launches, or "".
  std::string WrongWith(std::function<void(Grid&)> spoil,
                        const std::function<void()>& operation) const {
    EmulatedKernels::Spoil(std::move(spoil));
    operation();
    EmulatedKernels::Spoil(nullptr);
    std::string wrong;
    for (const auto& launch : EmulatedKernels::Take()) wrong += launch.wrong;
    ResetCounters();
    return wrong;
  }

  static at::Tensor Random(at::IntArrayRef sizes) {
    return ToDevice(at::randn(sizes));
  }
};

TEST_F(EmulatedLaunchTest, SharedMemoryThatIsMissingIsFound) {
  const at::Tensor rows = Random({2, 40, 40});
  EXPECT_THAT(WrongWith([](Grid& grid) { grid.shared_bytes = 0; },
                        [&] { CausalSoftmax(rows, 1); }),
              HasSubstr("leaves shared memory"));
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    for (const int64_t d_head : {64, 128}) {
      const at::Tensor x = ToDevice(at::randn({1, 1, 128, d_head}).to(type));
      EXPECT_THAT(WrongWith([](Grid& grid) { grid.shared_bytes -= 4; },
                            [&] { FusedAttention(x, x, x); }),
                  HasSubstr("leaves shared memory"))
          << type << " " << d_head;
    }
  }
}

TEST_F(EmulatedLaunchTest, ABlockTooManyIsFound) {
  const at::Tensor x = Random({3, 2 * 64});
  EXPECT_THAT(WrongWith([](Grid& grid) { ++grid.blocks; }, [&] { Swiglu(x); }),
              HasSubstr("leaves the tensors"));
}

TEST_F(EmulatedLaunchTest, WhatNoThreadWritesIsNoNumber) {
  const at::Tensor x = Random({5, 512}), weight = Random({512});
  at::Tensor normed;
  const auto norm = [&] { normed = AddRmsNorm(x, {}, weight, 1e-5).normed; };
  EXPECT_EQ(WrongWith([](Grid& grid) { --grid.blocks; }, norm), "");
  EXPECT_TRUE(ToHost(normed).isnan().any().item<bool>());
  EXPECT_EQ(WrongWith([](Grid& grid) { grid.threads -= 32; }, norm), "");
  EXPECT_TRUE(ToHost(normed).isnan().any().item<bool>());
  EXPECT_EQ(WrongWith(nullptr, norm), "");
  EXPECT_FALSE(ToHost(normed).isnan().any().item<bool>());
}

TEST_F(EmulatedLaunchTest, ATensorTooSmallIsFound) {
  const at::Tensor logits = Random({4, 40}), losses = Random({4});
  const at::Tensor targets = ToDevice(at::zeros({5}, at::kLong));
  const auto launch = [&] {
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
  };
  EXPECT_THAT(WrongWith(nullptr, launch), HasSubstr("leaves the tensors"));
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

TEST_F(EmulatedLaunchTest, AGraphComputesAgain) {
  const at::Tensor scores = Random({1, 20, 20});
  const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  {
    const c10::cuda::CUDAStreamGuard guard(stream);
    C10_CUDA_CHECK(
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CausalSoftmax(scores, 0.5);
    C10_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  }
  C10_CUDA_CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) {
    const at::Tensor values = at::randn(scores.sizes());
    // The graph's stream and the current stream are not synchronized.
    scores.copy_(values);
    C10_CUDA_CHECK(cudaDeviceSynchronize());
    C10_CUDA_CHECK(cudaGraphLaunch(exec, stream));
    C10_CUDA_CHECK(cudaDeviceSynchronize());
    EXPECT_LE(RelativeError(ToHost(scores),
                            CausalSoftmaxFormula(values.to(at::kDouble), 0.5)),
              Tolerance(at::kFloat));
  }
  C10_CUDA_CHECK(cudaGraphExecDestroy(exec));
  C10_CUDA_CHECK(cudaGraphDestroy(graph));
}

}  // namespace
}  // namespace trainbench
