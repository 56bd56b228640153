// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "model/nn/cross_entropy.h"
#include "model/nn/embedding.h"
#include "model/nn/feed_forward.h"
#include "model/nn/linear.h"
#include "model/nn/norm.h"
#include "model/spec/architecture.h"
#include "tests/support/tensors.h"

namespace trainbench {
namespace {

// The largest relative error of rounding to bf16, which has 8 significant bits,
// and a little more for earlier rounding in fp32.
constexpr double kBf16Rounding = (1.0 + 1e-3) / 256;

at::TensorOptions Options(at::ScalarType dtype) {
  return at::TensorOptions().dtype(dtype);
}

double MaxRelativeError(const at::Tensor& a, const at::Tensor& b) {
  return ((a.detach() - b.detach()) / b.detach()).abs().max().item<double>();
}

// The textbook formula in float64.
at::Tensor NormFormula(const at::Tensor& x, const at::Tensor& weight) {
  const at::Tensor wide = x.detach().to(at::kDouble);
  const at::Tensor mean = wide.square().sum(-1, true) / wide.size(-1);
  return weight.detach().to(at::kDouble) * wide / (mean + 1e-5).sqrt();
}

Norm MakeNorm(int64_t dim, at::ScalarType dtype) {
  Norm norm(ModelConfig{"m", dim}, Options(dtype));
  const at::NoGradGuard no_grad;
  norm->weight.uniform_(0.5, 2.0);
  return norm;
}

TEST(RmsNormTest, FollowsTheFormula) {
  at::manual_seed(1);
  const at::Tensor x = at::randn({3, 5, 48}, at::kDouble);
  Norm norm = MakeNorm(48, at::kDouble);
  EXPECT_LE(MaxError(norm(x), NormFormula(x, norm->weight)), 1e-14);
  Norm narrow = MakeNorm(48, at::kFloat);
  EXPECT_LE(MaxRelativeError(narrow(x.to(at::kFloat)),
                             NormFormula(x.to(at::kFloat), narrow->weight)),
            1e-6);
}

TEST(RmsNormTest, RoundsBf16OnlyOnce) {
  at::manual_seed(2);
  const at::Tensor x = at::randn({64, 512}).to(at::kBFloat16);
  Norm norm = MakeNorm(512, at::kBFloat16);
  const at::Tensor y = norm(x);
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  EXPECT_LE(MaxRelativeError(y.to(at::kDouble), NormFormula(x, norm->weight)),
            kBf16Rounding);
}

TEST(RmsNormTest, TinyAndHugeInputsStayFiniteAndRight) {
  at::manual_seed(3);
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    Norm norm = MakeNorm(64, dtype);
    for (const double scale : {1e-30, 1e-10, 1e-4, 1e4, 1e10, 1e17}) {
      const at::Tensor x = (at::randn({4, 64}) * scale).to(dtype);
      EXPECT_LE(MaxRelativeError(norm(x).to(at::kDouble),
                                 NormFormula(x, norm->weight)),
                dtype == at::kFloat ? 1e-6 : kBf16Rounding)
          << dtype << " " << scale;
    }
    const at::Tensor zeros = at::zeros({2, 64}, dtype);
    EXPECT_TRUE(norm(zeros).equal(zeros));
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
      Norm norm(config, Options(at::kDouble));
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

TEST(FeedForwardTest, FollowsTheFormula) {
  at::manual_seed(4);
  const ModelConfig config = {"m", 24, 50, 1, 2, 7};
  FeedForward ffn(config, Options(at::kDouble));
  const at::Tensor x = at::randn({2, 5, 24}, at::kDouble);
  const at::Tensor gate = at::matmul(x, ffn->w1->weight.t());
  const at::Tensor value = at::matmul(x, ffn->w3->weight.t());
  const at::Tensor expected =
      at::matmul(at::silu(gate) * value, ffn->w2->weight.t());
  EXPECT_LE(MaxError(ffn(x), expected), 1e-14);
}

TEST(FeedForwardTest, OfTwoMatricesFollowsTheFormulaInEachImplementation) {
  at::manual_seed(4);
  ModelConfig config = {"m", 24, 50, 1, 2, 7};
  config.biases = Biases::kAll;
  const at::Tensor x = at::randn({2, 5, 24}, at::kDouble);
  for (const Mlp mlp : {Mlp::kGelu, Mlp::kRelu2}) {
    config.mlp = mlp;
    for (const Implementation implementation : kImplementations) {
      config.implementation = implementation;
      FeedForward ffn(config, Options(at::kDouble));
      EXPECT_EQ(ffn->parameters().size(), 4U);
      const at::NoGradGuard no_grad;
      ffn->w1->bias.uniform_(-1, 1);
      ffn->w2->bias.uniform_(-1, 1);
      const at::Tensor a = at::matmul(x, ffn->w1->weight.t()) + ffn->w1->bias;
      const at::Tensor f =
          mlp == Mlp::kGelu ? a * at::special_ndtr(a) : a * a * a.gt(0);
      EXPECT_LE(
          MaxError(ffn(x), at::matmul(f, ffn->w2->weight.t()) + ffn->w2->bias),
          1e-13)
          << MlpName(mlp);
    }
  }
}

TEST(EmbeddingTest, LooksRowsUpAndAddsTheirGradients) {
  at::manual_seed(5);
  Embedding embedding(7, 4, Options(at::kDouble));
  const at::Tensor tokens = at::tensor({6, 0, 3, 6, 6, 1}).view({2, 3});
  const at::Tensor y = embedding(tokens);
  EXPECT_EQ(y.sizes(), at::IntArrayRef({2, 3, 4}));
  EXPECT_TRUE(y[0][0].equal(embedding->weight[6]));
  EXPECT_TRUE(y[1][2].equal(embedding->weight[1]));
  y.sum().backward();
  const at::Tensor uses = at::tensor({1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 3.0});
  EXPECT_TRUE(embedding->weight.grad().equal(
      uses.to(at::kDouble).unsqueeze(1).expand({7, 4}).contiguous()));
}

TEST(LinearTest, AddsItsBiasUnlessItIsLeft) {
  at::manual_seed(6);
  const at::Tensor x = at::randn({2, 3, 16});
  for (const Implementation implementation : kImplementations) {
    const std::vector<Linear> linears =
        MakeLinears(16, {11, 5}, Options(at::kFloat), implementation, true);
    std::vector<at::Tensor> expected;
    for (Linear linear : linears) {
      const at::NoGradGuard no_grad;
      linear->bias.uniform_(-1, 1);
      const at::Tensor product = at::einsum("bti,oi->bto", {x, linear->weight});
      expected.push_back(product + linear->bias);
      EXPECT_LE(MaxError(linear(x), expected.back()), 1e-6);
      linear->LeaveBias();
      EXPECT_LE(MaxError(linear(x), product), 1e-6);
      EXPECT_TRUE(linear->AddBias(product).equal(expected.back()));
    }
    const at::Tensor joined = ProductOf(x, linears);
    EXPECT_LE(MaxError(joined, at::cat(expected, -1)), 1e-6);
    joined.sum().backward();
    EXPECT_TRUE(linears[1]->bias.grad().equal(at::full({5}, 6.0)));
  }
}

TEST(LinearTest, MultipliesByTheTransposedWeightWithoutBias) {
  at::manual_seed(6);
  Linear linear(6, 11, Options(at::kDouble));
  EXPECT_EQ(linear->parameters().size(), 1U);
  const at::Tensor x = at::randn({2, 3, 6}, at::kDouble);
  const at::Tensor expected = at::einsum("bti,oi->bto", {x, linear->weight});
  EXPECT_LE(MaxError(linear(x), expected), 1e-14);
  EXPECT_TRUE(linear(at::zeros({1, 6}, at::kDouble))
                  .equal(at::zeros({1, 11}, at::kDouble)));
}

// LibTorch's mean loss over positions, which takes logits [N, V].
at::Tensor LibraryLoss(const at::Tensor& logits, const at::Tensor& targets) {
  return at::cross_entropy_loss(logits.flatten(0, -2), targets.flatten());
}

TEST(CrossEntropyTest, EqualsTheLibraryInValueAndGradient) {
  at::manual_seed(7);
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const double tolerance = dtype == at::kDouble ? 1e-14 : 2e-6;
    const at::Tensor x =
        (at::randn({3, 5, 41}, dtype) * 4).requires_grad_(true);
    const at::Tensor twin = x.detach().clone().requires_grad_(true);
    const at::Tensor targets = at::randint(41, {3, 5}, at::kLong);
    const at::Tensor loss = CrossEntropy(x, targets);
    const at::Tensor expected = LibraryLoss(twin, targets);
    EXPECT_EQ(loss.dim(), 0);
    EXPECT_EQ(loss.scalar_type(), dtype);
    EXPECT_LE(MaxError(loss, expected), tolerance);
    loss.backward();
    expected.backward();
    EXPECT_LE(MaxError(x.grad(), twin.grad()), tolerance);
  }
}

TEST(CrossEntropyTest, UniformLogitsCostTheLogarithmOfTheVocabulary) {
  const at::Tensor targets = at::tensor({4, 0, 36}, at::kLong);
  for (const double logit : {0.0, 1e4, -1e4, 1e30}) {
    EXPECT_NEAR(CrossEntropy(at::full({3, 37}, logit), targets).item<double>(),
                std::log(37.0), 1e-6)
        << logit;
  }
}

TEST(CrossEntropyTest, LargeLogitsNeitherOverflowNorLoseTheirGradient) {
  at::manual_seed(8);
  const at::Tensor x = (at::randn({6, 41}) * 1e4).requires_grad_(true);
  const at::Tensor twin = x.detach().to(at::kDouble).requires_grad_(true);
  const at::Tensor targets = at::randint(41, {6}, at::kLong);
  const at::Tensor loss = CrossEntropy(x, targets);
  const at::Tensor expected = LibraryLoss(twin, targets);
  EXPECT_GT(expected.item<double>(), 100);
  EXPECT_LE(MaxRelativeError(loss, expected), 1e-6);
  loss.backward();
  expected.backward();
  EXPECT_LE(MaxError(x.grad(), twin.grad()), 1e-6);
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
