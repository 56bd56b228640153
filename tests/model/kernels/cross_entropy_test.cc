// SPDX-License-Identifier: MIT

#include "model/kernels/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "model/kernels/cross_entropy.cuh"
#include "tests/model/kernels/tensors.h"

namespace trainbench::kernels {
namespace {

// `misalign`: where the matrix begins, in elements past a multiple of 16 bytes.
template <class T>
void ExpectLosses(int64_t rows, int64_t columns, int misalign, bool gradient) {
  Tensors t(1, misalign);
  T* logits = t.InPlace<T>(rows * columns, 4);
  const int64_t* targets = t.Indices(rows, columns);
  float* losses = t.Output<float>(rows);
  const std::vector<double> x = Doubles(logits, rows * columns);
  std::vector<double> expected(rows);
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < columns; ++i) sum += std::exp(x[row * columns + i]);
    expected[row] = std::log(sum) - x[row * columns + targets[row]];
  }
  ASSERT_EQ(
      CrossEntropyForward(t.launcher(), {kDtypeOf<T>, rows, columns, 1,
                                         gradient, targets, logits, losses}),
      "");
  EXPECT_LT(RelativeError(losses, expected), 1e-6);
  EXPECT_EQ(Doubles(logits, rows * columns) == x, !gradient);
}

// tests/model/fused compares the gradient and, on a GPU, the mean loss.
TEST(CrossEntropyKernels, GiveTheLossOfEachRow) {
  for (const bool gradient : {false, true}) {
    ExpectLosses<float>(2, 5027, 0, gradient);
    ExpectLosses<Bf16>(5, 333, 0, gradient);
    ExpectLosses<float>(3, 50, 1, gradient);
    ExpectLosses<Bf16>(9, 746, 1, gradient);
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
