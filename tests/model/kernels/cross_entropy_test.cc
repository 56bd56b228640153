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

// The matrix begins one element past a multiple of 16 bytes.
template <class T>
void ExpectLosses() {
  constexpr int64_t kRows = 3, kColumns = 50;
  Tensors t(/*seed=*/1, /*misalign=*/1);
  T* logits = t.InPlace<T>(kRows * kColumns, 4);
  const int64_t* targets = t.Indices(kRows, kColumns);
  float* losses = t.Output<float>(kRows);
  const std::vector<double> given = Doubles(logits, kRows * kColumns);
  std::vector<double> expected;
  for (int64_t row = 0; row < kRows; ++row) {
    const auto x = given.begin() + row * kColumns;
    double sum = 0;
    for (int64_t i = 0; i < kColumns; ++i) sum += std::exp(x[i]);
    expected.push_back(std::log(sum) - x[targets[row]]);
  }
  ASSERT_EQ(CrossEntropyForward(t.launcher(),
                                {kDtypeOf<T>, kRows, kColumns, /*scale=*/1,
                                 /*gradient=*/false, targets, logits, losses}),
            "");
  EXPECT_LT(RelativeError(losses, expected), 1e-6);
  EXPECT_EQ(Doubles(logits, kRows * kColumns), given);
}

TEST(CrossEntropyKernels, GiveTheLossesAndKeepTheLogitsWithoutAGradient) {
  ExpectLosses<float>();
  ExpectLosses<Bf16>();
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
