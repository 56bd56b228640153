// SPDX-License-Identifier: MIT

#include "model/ops/peak_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <string>

#include "model/training/train_step.h"
#include "model/verification/relative_error.h"

namespace trainbench {
namespace {

using ::testing::HasSubstr;

TEST(ProbeWorkTest, ProductsOfEveryTypeAreRight) {
  at::manual_seed(1);
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    MatrixProduct product(48, 32, 64, precision, at::kCPU);
    EXPECT_TRUE(product.Verify().ok()) << product.Verify();
  }
  EXPECT_TRUE(MatrixProduct(2, 3, 5, Precision::kFp32, at::kCPU).Verify().ok());
}

// fp32 with the significand cut to the 11 bits of TF32.
at::Tensor RoundedToTf32(const at::Tensor& x) {
  return x.view(at::kInt).bitwise_and(~0x1fff).view(at::kFloat);
}

TEST(ProbeWorkTest, AWrongProductIsFound) {
  at::manual_seed(1);
  const at::Tensor a = at::randn({8, 64}), b = at::randn({64, 4});
  const at::Tensor c = at::mm(a, b);
  EXPECT_TRUE(VerifyProduct(a, b, c, Precision::kFp32).ok());
  for (const at::Tensor& wrong : {c * 1.01, c.roll(1, 0), c * std::nan("")}) {
    const absl::Status status = VerifyProduct(a, b, wrong, Precision::kTf32);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("differs from float64 by"));
  }
}

TEST(ProbeWorkTest, ATf32ProductIsNoFp32Product) {
  at::manual_seed(1);
  const at::Tensor a = at::randn({8, 64}), b = at::randn({64, 4});
  const at::Tensor c = at::mm(RoundedToTf32(a), RoundedToTf32(b));
  EXPECT_TRUE(VerifyProduct(a, b, c, Precision::kTf32).ok());
  EXPECT_THAT(std::string(VerifyProduct(a, b, c, Precision::kFp32).message()),
              HasSubstr("allowed in fp32: 1e-05"));
}

TEST(ProbeWorkTest, UnequalNumbersAreCounted) {
  const at::Tensor x = at::arange(4);
  EXPECT_TRUE(VerifyEqual("x", x, x.clone()).ok());
  EXPECT_EQ(VerifyEqual("the copy", x, x.flip(0)).message(),
            "of the copy, 4 of 4 numbers are wrong");
}

TEST(RelativeErrorTest, IsOfTheWholeTensor) {
  const at::Tensor x = at::tensor({3.0, 4.0});
  EXPECT_DOUBLE_EQ(RelativeError(x * 1.5, x), 0.5);
  EXPECT_EQ(RelativeError(at::zeros({2}), at::zeros({2})), 0);
  EXPECT_TRUE(std::isnan(RelativeError(x * std::nan(""), x)));
}

TEST(ProbeWorkTest, CopiesAreComplete) {
  EXPECT_TRUE(MemoryCopy(4096, at::kFloat).Verify().ok());
}

TEST(ProbeWorkTest, UpdatesAreUndone) {
  EXPECT_TRUE(InPlaceUpdate(4096, at::kFloat).Verify().ok());
}

TEST(ProbeWorkTest, OperationsAreCounted) {
  EXPECT_TRUE(OpOverhead(1000, at::kFloat).Verify().ok());
  // bf16 cannot count that far: 256 + 1 is 256.
  EXPECT_THAT(std::string(OpOverhead(1000, at::kBFloat16).Verify().message()),
              HasSubstr("1000 additions of 1 to 0 gave 256"));
}

TEST(RandomizeGradientsTest, EveryParameterHasOneOfItsOwn) {
  TransformerLm model(
      ParseModel("name=n,d_model=8,d_ff=16,layers=1,heads=2,vocab=16").value(),
      at::kFloat);
  RandomizeGradients(model);
  for (const at::Tensor& parameter : Parameters(model)) {
    ASSERT_TRUE(parameter.grad().defined());
    EXPECT_FALSE(parameter.grad().requires_grad());
    EXPECT_GT(parameter.grad().abs().min().item<double>(), 0);
  }
}

}  // namespace
}  // namespace trainbench
