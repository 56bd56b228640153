// SPDX-License-Identifier: MIT

#include "model/kernels/cross_entropy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "model/kernels/cross_entropy.cuh"
#include "tests/model/kernels/tensors.h"

namespace trainbench::kernels {
namespace {

// A matrix that begins `misalign` elements past a multiple of 16 bytes.
struct Shape {
  int64_t rows;
  int64_t columns;
  int misalign;
};

template <class T>
void Check(Tensors& t, const Shape& s, bool gradient) {
  const int64_t count = s.rows * s.columns;
  const auto scale = static_cast<float>(1.0 / static_cast<double>(s.rows));
  T* logits = t.InPlace<T>(count, 4);
  const int64_t* targets = t.Indices(s.rows, s.columns);
  float* losses = t.Output<float>(s.rows);
  std::vector<double> expected = Doubles(logits, count);
  std::vector<double> expected_losses(s.rows);
  for (int64_t row = 0; row < s.rows; ++row) {
    const auto x = expected.begin() + row * s.columns;
    const double top = *std::max_element(x, x + s.columns);
    double sum = 0;
    for (int64_t i = 0; i < s.columns; ++i) sum += std::exp(x[i] - top);
    expected_losses[row] = top + std::log(sum) - x[targets[row]];
    for (int64_t i = 0; gradient && i < s.columns; ++i) {
      x[i] = scale * (std::exp(x[i] - top) / sum - (i == targets[row] ? 1 : 0));
    }
  }
  ASSERT_EQ(
      CrossEntropyForward(t.launcher(), {kDtypeOf<T>, s.rows, s.columns, scale,
                                         gradient, targets, logits, losses}),
      "");
  EXPECT_LT(RelativeError(losses, expected_losses), 1e-6);
  EXPECT_LT(RelativeError(logits, expected), gradient ? kTolerance<T> : 1e-9);

  float* factor = t.InPlace<float>(1);
  for (const float by : {1.0f, -2.5f}) {
    *factor = by;
    expected = Doubles(logits, count);
    for (double& x : expected) x *= by;
    ASSERT_EQ(CrossEntropyBackward(t.launcher(), {kDtypeOf<T>, s.rows,
                                                  s.columns, factor, logits}),
              "");
    EXPECT_LT(RelativeError(logits, expected), by == 1 ? 1e-9 : kTolerance<T>);
  }
}

TEST(CrossEntropyKernels, AreRightInBothTypes) {
  uint32_t seed = 1;
  for (const Shape& s :
       {Shape{4, 64, 0}, Shape{5, 333, 0}, Shape{3, 5, 0}, Shape{2, 5027, 0},
        Shape{3, 50, 1}, Shape{9, 746, 1}, Shape{2, 1, 0}}) {
    SCOPED_TRACE(testing::Message() << s.rows << " x " << s.columns);
    Tensors t(seed++, s.misalign);
    for (const bool gradient : {true, false}) {
      Check<float>(t, s, gradient);
      Check<Bf16>(t, s, gradient);
    }
  }
}

TEST(CrossEntropyKernels, GiveNoLossForATargetThatDoesNotExist) {
  Tensors t(1);
  int64_t targets[] = {3, -1};
  t.memory().Allow(targets, sizeof(targets), 8, false);
  float* logits = t.InPlace<float>(6);
  float* losses = t.Output<float>(2);
  for (const bool gradient : {false, true}) {
    losses[0] = losses[1] = 0;
    ASSERT_EQ(
        CrossEntropyForward(t.launcher(), {Dtype::kFloat32, 2, 3, 1, gradient,
                                           targets, logits, losses}),
        "");
    EXPECT_TRUE(std::isnan(losses[0]));
    EXPECT_TRUE(std::isnan(losses[1]));
  }
}

TEST(CrossEntropyKernels, KeepASmallLossOfLargeLogits) {
  Tensors t(1);
  int64_t targets[] = {0};
  t.memory().Allow(targets, sizeof(targets), 8, false);
  float* logits = t.InPlace<float>(2);
  logits[0] = 1000;
  logits[1] = 993;
  float* losses = t.Output<float>(1);
  ASSERT_EQ(CrossEntropyForward(t.launcher(), {Dtype::kFloat32, 1, 2, 1, false,
                                               targets, logits, losses}),
            "");
  EXPECT_NEAR(losses[0] / std::log1p(std::exp(-7.0)), 1, 1e-4);
}

}  // namespace
}  // namespace trainbench::kernels
