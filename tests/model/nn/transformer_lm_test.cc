// SPDX-License-Identifier: MIT

#include "model/nn/transformer_lm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/nn/initialization.h"

namespace trainbench {
namespace {

using ::testing::ElementsAreArray;

// The standard deviation of N(0, 1) truncated at 3: sqrt(1 - 6 phi(3) / mass).
constexpr double kCutDeviation = 0.98658;

TransformerLm MakeModel(const ModelConfig& config, at::ScalarType dtype) {
  return TransformerLm(config, at::TensorOptions().dtype(dtype));
}

TEST(TransformerLmTest, HaveTheNamesAndShapesOfTheUsualStateDict) {
  at::manual_seed(1);
  TransformerLm model = MakeModel({"m", 24, 40, 2, 3, 37}, at::kFloat);
  std::vector<std::string> found;
  for (const auto& item : model->named_parameters()) {
    std::string line = item.key();
    for (const int64_t size : item.value().sizes()) {
      line += " " + std::to_string(size);
    }
    found.push_back(line);
  }
  std::vector<std::string> expected = {"token_embeddings.weight 37 24"};
  for (const std::string layer : {"layers.0.", "layers.1."}) {
    for (const std::string rest :
         {"ln1.weight 24", "attn.q_proj.weight 24 24",
          "attn.k_proj.weight 24 24", "attn.v_proj.weight 24 24",
          "attn.output_proj.weight 24 24", "ln2.weight 24",
          "ffn.w1.weight 40 24", "ffn.w3.weight 40 24",
          "ffn.w2.weight 24 40"}) {
      expected.push_back(layer + rest);
    }
  }
  expected.push_back("ln_final.weight 24");
  expected.push_back("lm_head.weight 37 24");
  EXPECT_THAT(found, ElementsAreArray(expected));
}

TEST(TransformerLmTest, ABadConfigIsRefusedByName) {
  try {
    MakeModel({"m", 24, 40, 2, 5, 37}, at::kFloat);
    FAIL() << "accepted heads that do not divide d_model";
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("heads is 5"));
  }
}

// Expects weights of variance 2 / (in + out) and embeddings of variance 1, both
// truncated at 3 standard deviations, and norms of 1.
void ExpectInitialised(const TransformerLm& model, double rounding) {
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
  ExpectInitialised(MakeModel(config, at::kFloat), 1e-6);
  ExpectInitialised(MakeModel(config, at::kDouble), 1e-12);
  // bf16 has 8 significant bits.
  ExpectInitialised(MakeModel(config, at::kBFloat16), 1.0 / 256);
}

TEST(InitializationTest, TheShapeOfTheDistributionIsNormal) {
  at::manual_seed(3);
  const at::Tensor x = at::empty({400'000}, at::kDouble);
  TruncatedNormal_(x, 2.0);
  // A clamped normal distribution, with a mass at each end, would have 0.9975.
  EXPECT_NEAR(x.std().item<double>() / 2, kCutDeviation,
              5 / std::sqrt(2 * 400'000.0));
  for (const double z : {-2.0, -1.0, 0.0, 0.5, 1.5}) {
    const double mass = std::erf(3 / std::sqrt(2.0));
    const double expected =
        0.5 + 0.5 * std::erf(z / std::sqrt(2.0)) / mass;  // truncated normal
    EXPECT_NEAR(x.lt(2 * z).to(at::kDouble).mean().item<double>(), expected,
                5 * 0.5 / std::sqrt(400'000.0))
        << z;
  }
}

TEST(InitializationTest, TheCutIsRespectedWherever) {
  at::manual_seed(4);
  const at::Tensor x = at::empty({10'000}, at::kFloat);
  TruncatedNormal_(x, 1.0, 0.5);
  EXPECT_LE(x.abs().max().item<double>(), 0.5);
  EXPECT_GT(x.abs().max().item<double>(), 0.49);
}

TEST(InitializationTest, DependsOnTheSeedOnly) {
  const ModelConfig config = {"m", 24, 40, 2, 3, 37};
  const auto draw = [&](uint64_t seed) {
    at::manual_seed(seed);
    return MakeModel(config, at::kFloat)->parameters();
  };
  const auto first = draw(5), again = draw(5), other = draw(6);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(first[i].equal(again[i])) << i;
    EXPECT_EQ(first[i].equal(other[i]), first[i].dim() == 1) << i;
  }
}

TEST(InitializationTest, NoTwoMatricesAreEqual) {
  at::manual_seed(7);
  TransformerLm model = MakeModel({"m", 24, 24, 2, 3, 24}, at::kFloat);
  const auto parameters = model->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (parameters[i].dim() == 1) continue;
      EXPECT_FALSE(parameters[i].equal(parameters[j])) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace trainbench
