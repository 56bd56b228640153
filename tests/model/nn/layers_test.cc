// SPDX-License-Identifier: MIT
// The numerics of norms and losses at their limits. The goldens of
// tests/model/training cover the formulas of all layers.

#include <gtest/gtest.h>
#include <torch/types.h>

#include "model/nn/cross_entropy.h"
#include "model/nn/norm.h"
#include "tests/model/fused/formulas.h"
#include "tests/support/tensors.h"

namespace trainbench {
namespace {

// The largest relative error of rounding to bf16, which has 8 significant bits,
// and a little more for earlier rounding in fp32.
constexpr double kBf16Rounding = (1.0 + 1e-3) / 256;

double MaxRelativeError(const at::Tensor& a, const at::Tensor& b) {
  return ((a.detach() - b.detach()) / b.detach()).abs().max().item<double>();
}

// LibTorch's operator is not ours to test.
TEST(FusedAndTextbookRmsNormTest, TinyAndHugeInputsAreRoundedOnlyOnce) {
  at::manual_seed(3);
  const at::NoGradGuard no_grad;
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    for (const auto implementation :
         {Implementation::kTextbook, Implementation::kFused}) {
      ModelConfig config = {"m", 64};
      config.implementation = implementation;
      Norm norm(config, dtype);
      norm->weight.uniform_(0.5, 2.0);
      const auto normed = [&](const at::Tensor& x) {
        ResidualStream stream = {x, {}};
        return norm->AddAndNorm(stream);
      };
      for (const double scale : {1e-30, 1e-10, 1e-4, 1.0, 1e4, 1e10, 1e17}) {
        const at::Tensor x = (at::randn({4, 64}) * scale).to(dtype);
        const at::Tensor y = normed(x);
        EXPECT_EQ(y.scalar_type(), dtype);
        EXPECT_LE(
            MaxRelativeError(y.to(at::kDouble),
                             NormFormula(x.to(at::kDouble), norm->weight)),
            dtype == at::kFloat ? 1e-6 : kBf16Rounding)
            << dtype << " " << scale << " "
            << ImplementationName(implementation);
      }
      const at::Tensor zeros = at::zeros({2, 64}, dtype);
      EXPECT_TRUE(normed(zeros).equal(zeros));
    }
  }
}

TEST(LayerNormTest, FollowsTheFormulaInEachImplementation) {
  at::manual_seed(1);
  // Far from 0, where E[x^2] - E[x]^2 would lose its digits.
  const at::Tensor x = at::randn({3, 5, 48}, at::kDouble) + 1000;
  ModelConfig config = {"m", 48};
  config.norm = Normalization::kLayer;
  for (const Biases biases : BiasesName.values()) {
    config.biases = biases;
    for (const Implementation implementation : kImplementations) {
      config.implementation = implementation;
      Norm norm(config, at::kDouble);
      ASSERT_EQ(norm->bias.defined(), biases != Biases::kNone);
      const at::NoGradGuard no_grad;
      at::Tensor expected =
          NormFormula(x - x.mean(-1, true), norm->weight.uniform_(0.5, 2));
      if (norm->bias.defined()) expected += norm->bias.uniform_(-1, 1);
      EXPECT_LE(MaxError(norm(x), expected), 1e-12);
      // The fused implementation leaves the preceding sum to AddAndNorm().
      ResidualStream stream = {x, {}};
      if (implementation == Implementation::kFused) stream = {x - 3, x - x + 3};
      EXPECT_LE(MaxError(norm->AddAndNorm(stream), expected), 1e-12);
      EXPECT_TRUE(stream.x.equal(x));
    }
  }
}

TEST(FusedAndTextbookLossTest, LargeLogitsKeepLossAndGradient) {
  at::manual_seed(8);
  const at::Tensor targets = at::randint(41, {6}, at::kLong);
  for (const auto implementation :
       {Implementation::kTextbook, Implementation::kFused}) {
    const at::Tensor x = (at::randn({6, 41}) * 1e4).requires_grad_(true);
    const at::Tensor twin = x.detach().to(at::kDouble).requires_grad_(true);
    const at::Tensor loss = CrossEntropy(x * 1, targets, implementation);
    const at::Tensor expected = at::cross_entropy_loss(twin, targets);
    EXPECT_GT(expected.item<double>(), 100);
    EXPECT_LE(MaxRelativeError(loss, expected), 1e-6);
    loss.backward();
    expected.backward();
    EXPECT_LE(MaxError(x.grad(), twin.grad()), 1e-6);
  }
}

TEST(CrossEntropyTest, Bf16LogitsAreWidenedFirst) {
  at::manual_seed(9);
  const at::Tensor x =
      at::randn({2, 3, 401}).to(at::kBFloat16).requires_grad_(true);
  const at::Tensor targets = at::randint(401, {2, 3}, at::kLong);
  const at::Tensor loss = CrossEntropy(x, targets);
  EXPECT_EQ(loss.scalar_type(), at::kFloat);
  EXPECT_TRUE(loss.equal(CrossEntropy(x.detach().to(at::kFloat), targets)));
  loss.backward();
  EXPECT_EQ(x.grad().scalar_type(), at::kBFloat16);
}

}  // namespace
}  // namespace trainbench
