// SPDX-License-Identifier: MIT

#include "model/accounting/parameters.h"

namespace trainbench {
namespace {

int64_t VocabularyTables(const ModelConfig& config) {
  return config.tied_embeddings ? 1 : 2;
}

int64_t MlpMatrices(const ModelConfig& config) {
  return config.has_gate() ? 3 : 2;
}

int64_t MlpParameters(const ModelConfig& config) {
  return MlpMatrices(config) * config.d_model * config.d_ff;
}

// Elements in the biases of a block's matrices, by component.
struct BlockBiases {
  int64_t projections = 0;
  int64_t output_projection = 0;
  int64_t mlp = 0;

  int64_t all() const { return projections + output_projection + mlp; }
};

BlockBiases BiasesOf(const ModelConfig& config) {
  if (!config.has_biases()) return {};
  const int64_t up = MlpMatrices(config) - 1;
  return {.projections = config.d_attention() + 2 * config.d_key_value(),
          .output_projection = config.d_model,
          .mlp = up * config.d_ff + config.d_model};
}

}  // namespace

int64_t BlockMatrixParameters(const ModelConfig& config) {
  return 2 * config.d_model * (config.d_attention() + config.d_key_value()) +
         MlpParameters(config);
}

int64_t NormParameters(const ModelConfig& config) {
  return (config.norms_have_biases() ? 2 : 1) * config.d_model;
}

int64_t BlockParameters(const ModelConfig& config) {
  return BlockMatrixParameters(config) + BiasesOf(config).all() +
         2 * NormParameters(config);
}

int64_t ParameterCount(const ModelConfig& config) {
  return (VocabularyTables(config) * config.vocab + config.context) *
             config.d_model +
         config.layers * BlockParameters(config) + NormParameters(config);
}

int64_t ParameterBytes(const ModelConfig& config, Precision precision) {
  return (precision == Precision::kBf16 ? 2 : 4) * ParameterCount(config);
}

int64_t ParameterTensorCount(const ModelConfig& config) {
  const int64_t matrices = 4 + MlpMatrices(config);
  const int64_t biases = config.has_biases() ? matrices : 0;
  const int64_t norm = config.norms_have_biases() ? 2 : 1;
  const int64_t positions = config.positions == Positions::kLearned ? 1 : 0;
  return config.layers * (matrices + biases + 2 * norm) + norm +
         VocabularyTables(config) + positions;
}

std::vector<ComponentParameters> ParametersByComponent(
    const ModelConfig& config) {
  const int64_t layers = config.layers;
  const int64_t square = layers * config.d_model * config.d_attention();
  const int64_t keys = layers * config.d_model * config.d_key_value();
  const int64_t vocabulary = config.vocab * config.d_model;
  const int64_t positions = config.context * config.d_model;
  const BlockBiases biases = BiasesOf(config);
  const auto product = [&](Component component, int64_t matrices,
                           int64_t biases_of_layer) -> ComponentParameters {
    return {component, matrices + layers * biases_of_layer, matrices};
  };
  std::vector<ComponentParameters> all = {
      {Component::kEmbedding, vocabulary + positions},
      product(Component::kProjections, square + 2 * keys, biases.projections),
      product(Component::kOutputProjection, square, biases.output_projection),
      product(Component::kFfn, layers * MlpParameters(config), biases.mlp),
      {Component::kNorm, (2 * layers + 1) * NormParameters(config)}};
  if (!config.tied_embeddings) {
    all.push_back(product(Component::kLmHead, vocabulary, 0));
  }
  return all;
}

}  // namespace trainbench
