// SPDX-License-Identifier: MIT
// Limits of the kernels on rows. tests/model/fused compares their numbers.

#include <algorithm>
#include <cmath>
#include <iterator>

#include "model/kernels/cross_entropy.cuh"
#include "model/kernels/rms_norm.cuh"
#include "model/kernels/rope.cuh"
#include "model/kernels/softmax.cuh"
#include "model/kernels/swiglu.cuh"
#include "tests/emulator/faulty_device.h"
#include "tests/model/kernels/tensors.h"
#include "tests/support/matchers.h"

namespace trainbench::kernels {
namespace {

// Without it a warp would sum values that the others have not written yet.
TEST(RmsNormKernels, NeedTheBarrierOfAReduction) {
  Tensors t(1);
  const float* x = t.Input<float>(512);
  float* y = t.Output<float>(512);
  float* inverse = t.Output<float>(1);
  emulator::BasicLauncher<emulator::FaultyDevice> launcher(
      &t.memory(), 1, {emulator::Fault::kSkippedBarrier, 0});
  EXPECT_THAT(
      RmsNormForward(launcher, {Dtype::kFloat32, Dtype::kFloat32, 1, 512, 1e-5f,
                                x, nullptr, x, nullptr, y, inverse}),
      HasSubstr("another thread"));
}

TEST(SoftmaxKernels, BearScoresThatExpWouldNot) {
  Tensors t(1);
  float* x = t.InPlace<float>(4);
  x[0] = 4000;
  x[2] = 4000;
  x[3] = 4004;
  ASSERT_EQ(SoftmaxForward(t.launcher(), {Dtype::kFloat32, 1, 2, 0.25f, x, x}),
            "");
  EXPECT_EQ(x[0], 1);
  EXPECT_EQ(x[1], 0);
  EXPECT_NEAR(x[2], 1 / (1 + std::exp(1.0)), 1e-6);
}

TEST(SwigluKernels, BearLargeGates) {
  Tensors t(1);
  float* gate = t.InPlace<float>(4);
  const float values[] = {-1000, -90, 90, 1000};
  std::copy(std::begin(values), std::end(values), gate);
  float* y = t.Output<float>(4);
  ASSERT_EQ(
      SwigluForward(t.launcher(), {Dtype::kFloat32, 1, 4, 4, gate, gate, y}),
      "");
  EXPECT_EQ(y[0], 0);
  EXPECT_NEAR(y[1], 0, 1e-30);
  EXPECT_EQ(y[2], 90.0f * 90);
  EXPECT_EQ(y[3], 1e6f);
}

TEST(RowKernels, RefuseWhatTheyCannotDo) {
  Tensors t(1);
  RmsNormForwardArgs norm{};
  norm.rows = 1;
  norm.columns = 8193;
  EXPECT_EQ(RmsNormForward(t.launcher(), norm), "columns must be in [1, 8192]");
  norm.columns = 8;
  norm.rows = 0;
  EXPECT_EQ(RmsNormForward(t.launcher(), norm), "rows must be in [1, 2^31)");
  norm.rows = 1;
  norm.stream = Dtype::kBfloat16;
  EXPECT_EQ(RmsNormForward(t.launcher(), norm),
            "a stream in bf16 has branches in bf16");
  SoftmaxForwardArgs softmax{};
  EXPECT_EQ(SoftmaxForward(t.launcher(), softmax),
            "matrices times seq must be in [1, 2^31)");
  softmax.matrices = 1;
  softmax.seq = 8;
  softmax.x = softmax.p = t.InPlace<float>(65) + 1;
  EXPECT_EQ(SoftmaxForward(t.launcher(), softmax),
            "tensors must begin at a multiple of 16 bytes");
  RopeArgs rope{};
  rope.d_head = 3;
  EXPECT_EQ(RopeTurn(t.launcher(), rope), "d_head must be even");
  SwigluForwardArgs swiglu{};
  swiglu.columns = 8;
  EXPECT_EQ(SwigluForward(t.launcher(), swiglu),
            "rows and columns must be in [1, 2^31)");
  swiglu.rows = 1;
  swiglu.columns = (int64_t{1} << 31) + 1;
  EXPECT_EQ(SwigluForward(t.launcher(), swiglu),
            "rows and columns must be in [1, 2^31)");
  CrossEntropyForwardArgs cross_entropy{};
  cross_entropy.rows = 1;
  EXPECT_EQ(CrossEntropyForward(t.launcher(), cross_entropy),
            "rows must be in [1, 2^31), columns at least 1");
}

}  // namespace
}  // namespace trainbench::kernels
