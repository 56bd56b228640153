// SPDX-License-Identifier: MIT

#include "model/nn/transformer_lm.h"

#include <torch/types.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "model/nn/initialization.h"
#include "tests/model/c10_error.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

// The standard deviation of N(0, 1) truncated at 3: sqrt(1 - 6 phi(3) / mass).
constexpr double kCutDeviation = 0.98658;

TEST(TransformerLmTest, ABadConfigIsRefusedByName) {
  EXPECT_THAT(ErrorOf([] {
                TransformerLm(ModelConfig{"m", 24, 40, 2, 5, 37}, at::kFloat);
              }),
              HasSubstr("heads is 5"));
}

// Expects weights of variance 2 / (in + out) and embeddings of variance 1, both
// truncated at 3 standard deviations, and norms of 1.
void ExpectInitialized(const TransformerLm& model, double rounding) {
  for (const auto& item : model->named_parameters()) {
    const at::Tensor value = item.value().detach().to(at::kDouble);
    if (value.dim() == 1) {
      EXPECT_TRUE(value.eq(1).all().item<bool>()) << item.key();
      continue;
    }
    const bool embedding = item.key() == "token_embeddings.weight";
    const double sigma =
        embedding ? 1.0
                  : std::sqrt(2.0 / static_cast<double>(value.size(0) +
                                                        value.size(1)));
    const double largest = value.abs().max().item<double>();
    EXPECT_LE(largest, 3 * sigma * (1 + rounding)) << item.key();
    EXPECT_GT(largest, 2.5 * sigma) << item.key();
    // Allows five standard errors of the deviation and of the mean.
    const double error =
        5 / std::sqrt(2.0 * static_cast<double>(value.numel()));
    EXPECT_NEAR(value.std().item<double>() / sigma, kCutDeviation, error)
        << item.key();
    EXPECT_NEAR(value.mean().item<double>() / sigma, 0, 2 * error)
        << item.key();
  }
}

TEST(InitializationTest, WeightsAreCutNormalsAndNormsAreOne) {
  at::manual_seed(2);
  const ModelConfig config = {"m", 96, 160, 2, 4, 301};
  ExpectInitialized(TransformerLm(config, at::kFloat), 1e-6);
  ExpectInitialized(TransformerLm(config, at::kDouble), 1e-12);
  // bf16 has 8 significant bits.
  ExpectInitialized(TransformerLm(config, at::kBFloat16), 1.0 / 256);
}

TEST(InitializationTest, TheShapeOfTheDistributionIsNormal) {
  at::manual_seed(3);
  const at::Tensor x = at::empty({400'000}, at::kDouble);
  TruncatedNormal_(x, 2.0);
  // A clamped normal distribution, with a mass at each end, would have 0.9975.
  EXPECT_NEAR(x.std().item<double>() / 2, kCutDeviation,
              5 / std::sqrt(2 * 400'000.0));
  EXPECT_GT(x.abs().max().item<double>(), 2 * 2.99);
  for (const double z : {-2.0, -1.0, 0.0, 0.5, 1.5}) {
    const double mass = std::erf(3 / std::sqrt(2.0));
    const double expected =
        0.5 + 0.5 * std::erf(z / std::sqrt(2.0)) / mass;  // truncated normal
    EXPECT_NEAR(x.lt(2 * z).to(at::kDouble).mean().item<double>(), expected,
                5 * 0.5 / std::sqrt(400'000.0))
        << z;
  }
}

TEST(InitializationTest, TiedEmbeddingsAreDrawnAsAHead) {
  ModelConfig config = {"m", 24, 40, 2, 4, 37};
  at::manual_seed(5);
  const TransformerLm untied(config, at::kFloat);
  config.tied_embeddings = true;
  at::manual_seed(5);
  const TransformerLm tied(config, at::kFloat);
  EXPECT_TRUE(tied->token_embeddings->weight.equal(untied->lm_head->weight));
}

TEST(InitializationTest, NoTwoMatricesOfOneModelOrOfTwoSeedsAreEqual) {
  std::vector<at::Tensor> matrices;
  for (const uint64_t seed : {5, 6}) {
    at::manual_seed(seed);
    TransformerLm model(ModelConfig{"m", 24, 24, 2, 3, 24}, at::kFloat);
    for (const at::Tensor& parameter : model->parameters()) {
      if (parameter.dim() == 1) continue;
      for (const at::Tensor& other : matrices) {
        EXPECT_FALSE(parameter.equal(other)) << matrices.size();
      }
      matrices.push_back(parameter);
    }
  }
}

}  // namespace
}  // namespace trainbench
