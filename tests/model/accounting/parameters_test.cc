// SPDX-License-Identifier: MIT

#include "model/accounting/parameters.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fixtures/steps/memory_tables.h"
#include "model/nn/transformer_lm.h"
#include "model/spec/named_models.h"
#include "tests/support/architectures.h"

namespace trainbench {
namespace {

// tiny: embeddings 2 * 10000 * 128 = 2,560,000; a block has 4 * 128^2 = 65,536
// in its projections, 3 * 128 * 512 = 196,608 in its SwiGLU and 2 * 128 in its
// norms, together 262,400, four of them 1,049,600; the last norm has 128.
// Published models as transformers counts them; MPT as in llm-foundry's table.
TEST(ParametersTest, CountsOfNamedModels) {
  const std::map<std::string, int64_t> counts = {
      {"tiny", 3'609'728},
      {"small", 128'625'408},
      {"medium", 423'183'360},
      {"large", 969'411'840},
      {"xl", 1'998'235'200},
      {"2.7B", 3'406'809'600},
      {"gpt2", 190'460'160},
      {"gpt2-medium", 505'629'696},
      {"gpt2-large", 1'072'469'760},
      {"gpt2-xl", 2'127'057'600},
      {"GPT-2-124M", 124'439'808},
      {"GPT-2-355M", 354'823'168},
      {"GPT-2-774M", 774'030'080},
      {"GPT-2-1.5B", 1'557'611'200},
      {"MPT-125M", 125'311'488},
      {"MPT-350M", 355'985'408},
      {"MPT-30B", 29'975'214'080},
      {"MPT-70B", 64'862'437'376},
      {"TinyLlama-1.1B", 1'100'048'384},
      {"Llama-2-7B", 6'738'415'616},
      {"Llama-2-13B", 13'015'864'320},
      {"Llama-2-70B", 68'976'648'192},
      {"Llama-3-8B", 8'030'261'248},
      {"Llama-3-70B", 70'553'706'496},
      {"Llama-3-405B", 405'853'388'800},
      {"Llama-3.2-3B", 3'212'749'824}};
  for (const auto& [name, count] : counts) {
    EXPECT_EQ(ParameterCount(*FindModel(name, NamedModels())), count) << name;
  }
  for (const ModelConfig& standard : StandardModels()) {
    EXPECT_TRUE(counts.contains(standard.name)) << standard.name;
  }
}

// Each architecture as it is, and with shared heads of keys and values and tied
// embeddings.
std::vector<ModelConfig> Configs() {
  std::vector<ModelConfig> configs;
  for (const Architecture& architecture : kArchitectures) {
    configs.push_back(architecture.of({"m", 24, 40, 2, 6, 37}));
    configs.push_back(Shared(configs.back()));
  }
  return configs;
}

TEST(ParametersTest, AreThoseOfABuiltModel) {
  for (const ModelConfig& config : Configs()) {
    TransformerLm model(config, at::TensorOptions().device(at::kMeta));
    const auto parameters = model->named_parameters();
    EXPECT_EQ(ParameterTensorCount(config), parameters.size());
    std::map<Component, int64_t> built, predicted;
    int64_t block = 0, matrices_of_block = 0;
    for (const auto& parameter : parameters) {
      const OperatorPlace place = PlaceOfParameter(parameter.key());
      const int64_t elements = parameter.value().numel();
      built[*place.component] += elements;
      if (place.layer != 0) continue;
      block += elements;
      if (parameter.value().dim() == 2) matrices_of_block += elements;
    }
    for (const ComponentParameters& part : ParametersByComponent(config)) {
      predicted[part.component] = part.elements;
    }
    EXPECT_EQ(predicted, built);
    EXPECT_EQ(BlockParameters(config), block);
    EXPECT_EQ(BlockMatrixParameters(config), matrices_of_block);
  }
}

}  // namespace
}  // namespace trainbench
