// SPDX-License-Identifier: MIT

#include "benchmarks/norm_precision/norm_arithmetic.h"

#include <torch/types.h>

#include <string>

#include "model/nn/dtype.h"
#include "model/nn/norm.h"
#include "tests/support/cuda_test.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

constexpr NormKind kKinds[] = {NormKind::kRmsNorm, NormKind::kLayerNorm};

at::Tensor Input(double magnitude, at::ScalarType dtype) {
  at::manual_seed(1);
  return NormalInput(32, 512, magnitude, dtype, at::kCPU);
}

TEST(NormArithmeticTest, WithoutRoundingItIsLibTorchsNorm) {
  const at::Tensor x = Input(3, at::kDouble) + 2;
  const at::Tensor rms = at::rms_norm(x, {512}, {}, 1e-5);
  const at::Tensor layer = at::layer_norm(x, {512}, {}, {}, 1e-5);
  for (const auto function : {&Normalize, &SimulateNorm}) {
    EXPECT_TRUE(function(NormKind::kRmsNorm, x, at::kDouble)
                    .y.allclose(rms, 1e-12, 1e-12));
    EXPECT_TRUE(function(NormKind::kLayerNorm, x, at::kDouble)
                    .y.allclose(layer, 1e-12, 1e-12));
  }
}

TEST(NormArithmeticTest, WideIsTheArithmeticOfTheModel) {
  for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16, at::kFloat}) {
    const at::Tensor x = Input(10, dtype);
    Norm norm(ModelConfig{"m", 512}, at::TensorOptions().dtype(at::kFloat));
    EXPECT_TRUE(
        Normalize(NormKind::kRmsNorm, x, at::kFloat).y.equal(norm(x).detach()))
        << DtypeName(dtype);
  }
}

TEST(NormArithmeticTest, RoundsAfterEveryOperation) {
  // In fp16 101^2 = 10201 rounds to 10200, a multiple of 8, and the mean with
  // 60^2 = 3600 is 6900. 1/sqrt(6900) = 0.012038585 rounds to 1578 / 2^17 =
  // 0.012039185, and 101 times that, 1.2159577, rounds to 1245 / 2^10.
  const at::Tensor x = at::tensor({101.0, 60.0}).to(at::kHalf).view({1, 2});
  for (const auto function : {&Normalize, &SimulateNorm}) {
    const NormResult result = function(NormKind::kRmsNorm, x, at::kHalf);
    EXPECT_EQ(result.mean_square.item<double>(), 6900);
    EXPECT_EQ(result.y[0][0].item<double>(), 1.2158203125);
  }
}

TEST(NormArithmeticTest, ASquareBeyond65504MakesTheWholeRowZeroInFp16) {
  const at::Tensor x = at::ones({2, 64}, at::kHalf);
  x[0][5] = 255;  // 65025 is finite
  x[1][5] = 300;  // 90000 overflows, as does (300 - 5.7)^2
  for (const NormKind kind : kKinds) {
    const NormResult low = Normalize(kind, x, at::kHalf);
    EXPECT_FALSE(low.mean_square[0].isinf().item<bool>());
    EXPECT_TRUE(low.mean_square[1].isinf().item<bool>());
    EXPECT_EQ(OverflowedShare(low), 0.5);
    EXPECT_GT(low.y[0].abs().min().item<double>(), 0);
    EXPECT_EQ(low.y[1].abs().max().item<double>(), 0) << "silently";
    const NormResult wide = Normalize(kind, x, at::kFloat);
    EXPECT_GT(wide.y[1].abs().min().item<double>(), 0);
  }
}

TEST(NormArithmeticTest, Bf16HasTheRange) {
  for (const NormKind kind : kKinds) {
    const at::Tensor x = Input(1e6, at::kBFloat16);
    const NormResult low = Normalize(kind, x, at::kBFloat16);
    EXPECT_FALSE(low.mean_square.isinf().any().item<bool>());
    EXPECT_LT(NormError(kind, x, low.y), 0x1p-7);
  }
}

TEST(NormArithmeticTest, EveryResultPassesItsCheck) {
  for (const NormKind kind : kKinds) {
    for (const double magnitude : {1.0, 30.0, 70.0, 300.0, 10000.0}) {
      for (const at::ScalarType dtype :
           {at::kHalf, at::kBFloat16, at::kFloat}) {
        for (const at::ScalarType compute_dtype : {dtype, at::kFloat}) {
          const at::Tensor x = Input(magnitude, dtype);
          const NormResult result = Normalize(kind, x, compute_dtype);
          EXPECT_EQ(CheckNorm(kind, x, compute_dtype, result), absl::OkStatus())
              << magnitude;
        }
      }
    }
  }
}

TEST(NormArithmeticTest, ALowResultIsNoWideOneNorTheOtherWayRound) {
  for (const NormKind kind : kKinds) {
    for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16}) {
      const at::Tensor x = Input(1, dtype);
      const NormResult wide = Normalize(kind, x, at::kFloat);
      EXPECT_THAT(std::string(CheckNorm(kind, x, dtype, wide).message()),
                  HasSubstr("norm_error "));
      NormResult wrong = wide;
      wrong.y = wide.y * 1.01;
      EXPECT_THAT(std::string(CheckNorm(kind, x, at::kFloat, wrong).message()),
                  HasSubstr("norm_error "));
    }
    const at::Tensor x = Input(300, at::kHalf);
    EXPECT_EQ(
        CheckNorm(kind, x, at::kHalf, Normalize(kind, x, at::kFloat)).message(),
        "0 rows overflow in fp16, 32 should");
  }
}

TEST(NormArithmeticTest, AConstantInputIsRefused) {
  const at::Tensor x = at::ones({4, 64});
  const NormKind kind = NormKind::kRmsNorm;
  const NormResult result = Normalize(kind, x, at::kFloat);
  EXPECT_THAT(std::string(CheckNorm(kind, x, at::kFloat, result).message()),
              HasSubstr("the input has no value other than 1"));
}

TEST(NormArithmeticTest, AnInputBeyondFp16IsNamed) {
  const at::Tensor x = NormalInput(8, 64, 1e6, at::kHalf, at::kCPU);
  const NormResult norm = Normalize(NormKind::kRmsNorm, x, at::kFloat);
  EXPECT_EQ(
      std::string(CheckNorm(NormKind::kRmsNorm, x, at::kFloat, norm).message()),
      "the input has values that are not finite");
}

TEST(NormArithmeticTest, TheErrorIsRelativeToTheNorm) {
  const at::Tensor x = Input(1, at::kDouble);
  const at::Tensor y = Normalize(NormKind::kRmsNorm, x, at::kDouble).y;
  EXPECT_LT(NormError(NormKind::kRmsNorm, x, y), 1e-14);
  EXPECT_NEAR(NormError(NormKind::kRmsNorm, x, y * 1.25), 0.25, 1e-12);
  EXPECT_NEAR(NormError(NormKind::kRmsNorm, x, at::zeros_like(y)), 1, 1e-12);
}

using CudaNormArithmeticTest = CudaTest;
TEST_F(CudaNormArithmeticTest, NormsRoundAsSimulated) {
  at::manual_seed(1);
  const at::Device gpu(at::kCUDA, 0);
  for (const NormKind kind : kKinds) {
    for (const double magnitude : {1.0, 70.0, 300.0}) {
      for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16}) {
        for (const at::ScalarType internals : {dtype, at::kFloat}) {
          const at::Tensor x = NormalInput(64, 1024, magnitude, dtype, gpu);
          EXPECT_EQ(
              CheckNorm(kind, x, internals, Normalize(kind, x, internals)),
              absl::OkStatus());
        }
      }
    }
  }
}

}  // namespace
}  // namespace trainbench
