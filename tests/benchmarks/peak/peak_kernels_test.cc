// SPDX-License-Identifier: MIT

#include "benchmarks/peak/peak_kernels.h"

#include <torch/types.h>

#include <cmath>
#include <string>

#include "tests/support/matchers.h"

namespace trainbench {
namespace {

TEST(PeakKernelsTest, ProductsOfEveryTypeAreRight) {
  at::manual_seed(1);
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    MatrixProduct product(48, 32, 64, precision, at::kCPU);
    EXPECT_EQ(product.Verify(), absl::OkStatus());
  }
  EXPECT_EQ(MatrixProduct(2, 3, 5, Precision::kFp32, at::kCPU).Verify(),
            absl::OkStatus());
}

// fp32 with the significand truncated to the 11 bits of TF32.
at::Tensor RoundedToTf32(const at::Tensor& x) {
  return x.view(at::kInt).bitwise_and(~0x1fff).view(at::kFloat);
}

TEST(PeakKernelsTest, AWrongProductIsFound) {
  at::manual_seed(1);
  const at::Tensor a = at::randn({8, 64}), b = at::randn({64, 4});
  const at::Tensor c = at::mm(a, b);
  EXPECT_TRUE(VerifyProduct(a, b, c, Precision::kFp32).ok());
  for (const at::Tensor& wrong : {c * 1.01, c.roll(1, 0), c * std::nan("")}) {
    EXPECT_THAT(VerifyProduct(a, b, wrong, Precision::kTf32).ToString(),
                HasSubstr("product_error "));
  }
}

TEST(PeakKernelsTest, ATf32ProductIsNoFp32Product) {
  at::manual_seed(1);
  const at::Tensor a = at::randn({8, 64}), b = at::randn({64, 4});
  const at::Tensor c = at::mm(RoundedToTf32(a), RoundedToTf32(b));
  EXPECT_TRUE(VerifyProduct(a, b, c, Precision::kTf32).ok());
  EXPECT_THAT(std::string(VerifyProduct(a, b, c, Precision::kFp32).message()),
              AllOf(StartsWith("product_error "), EndsWith(" > 1e-05")));
}

TEST(PeakKernelsTest, UnequalNumbersAreCounted) {
  const at::Tensor x = at::arange(4);
  EXPECT_TRUE(VerifyEqual("x", x, x.clone()).ok());
  EXPECT_EQ(VerifyEqual("the copy", x, x.flip(0)).message(),
            "of the copy, 4 of 4 numbers are wrong");
}

TEST(PeakKernelsTest, OperationsAreCounted) {
  EXPECT_TRUE(OpOverhead(1000, at::kFloat).Verify().ok());
  // bf16 cannot count that far: 256 + 1 is 256.
  EXPECT_THAT(std::string(OpOverhead(1000, at::kBFloat16).Verify().message()),
              HasSubstr("1000 additions of 1 to 0 gave 256"));
}

}  // namespace
}  // namespace trainbench
