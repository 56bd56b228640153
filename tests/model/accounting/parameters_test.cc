// SPDX-License-Identifier: MIT

#include "model/accounting/parameters.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include "fixtures/steps/memory_tables.h"
#include "model/nn/transformer_lm.h"

namespace trainbench {
namespace {

// tiny: embeddings 2 * 10000 * 128 = 2,560,000; a block has 4 * 128^2 = 65,536
// in its projections, 3 * 128 * 512 = 196,608 in its SwiGLU and 2 * 128 in its
// norms, together 262,400, four of them 1,049,600; the last norm has 128.
TEST(ParametersTest, CountsOfStandardModelsByFormulaAndByBuilding) {
  const std::map<std::string, int64_t> counts = {
      {"tiny", 3'609'728},    {"small", 128'625'408}, {"medium", 423'183'360},
      {"large", 969'411'840}, {"xl", 1'998'235'200},  {"2.7B", 3'406'809'600}};
  ASSERT_EQ(StandardModels().size(), counts.size());
  for (const ModelConfig& config : StandardModels()) {
    const int64_t expected = counts.at(config.name);
    EXPECT_EQ(ParameterCount(config), expected) << config.name;
    TransformerLm model(config, at::TensorOptions().device(at::kMeta));
    int64_t count = 0, tensors = 0;
    for (const at::Tensor& parameter : model->parameters()) {
      EXPECT_TRUE(parameter.is_meta());
      count += parameter.numel();
      ++tensors;
    }
    EXPECT_EQ(count, expected) << config.name;
    EXPECT_EQ(ParameterTensorCount(config), tensors) << config.name;
  }
}

// With as many heads of keys and values as of queries, and with fewer; with two
// tables of the vocabulary, and with one.
std::vector<ModelConfig> Configs() {
  std::vector<ModelConfig> configs(2, {"m", 24, 40, 2, 6, 37});
  configs[1].kv_heads = 2;
  configs[1].tied_embeddings = true;
  return configs;
}

TEST(ParametersTest, BlockCountsAreThoseOfABuiltBlock) {
  for (const ModelConfig& config : Configs()) {
    Block block(config, at::TensorOptions().device(at::kMeta));
    int64_t matrices = 0, all = 0;
    for (const at::Tensor& parameter : block->parameters()) {
      all += parameter.numel();
      if (parameter.dim() == 2) matrices += parameter.numel();
    }
    EXPECT_EQ(BlockMatrixParameters(config), matrices);
    EXPECT_EQ(BlockParameters(config), all);
  }
}

TEST(ParametersTest, OfEachComponentAreThoseOfABuiltModel) {
  for (const ModelConfig& config : Configs()) {
    TransformerLm model(config, at::TensorOptions().device(at::kMeta));
    std::map<Component, int64_t> built, predicted;
    for (const auto& parameter : model->named_parameters()) {
      built[*PlaceOfParameter(parameter.key()).component] +=
          parameter.value().numel();
    }
    for (const auto& [component, elements] : ParametersByComponent(config)) {
      predicted[component] = elements;
    }
    EXPECT_EQ(predicted, built);
  }
}

}  // namespace
}  // namespace trainbench
