// SPDX-License-Identifier: MIT

#include "model/accounting/parameters.h"

namespace trainbench {
namespace {

int64_t VocabularyTables(const ModelConfig& config) {
  return config.tied_embeddings ? 1 : 2;
}

}  // namespace

int64_t BlockMatrixParameters(const ModelConfig& config) {
  return 2 * config.d_model * (config.d_attention() + config.d_key_value()) +
         3 * config.d_model * config.d_ff;
}

int64_t BlockParameters(const ModelConfig& config) {
  return BlockMatrixParameters(config) + 2 * config.d_model;
}

int64_t ParameterCount(const ModelConfig& config) {
  return VocabularyTables(config) * config.vocab * config.d_model +
         config.layers * BlockParameters(config) + config.d_model;
}

int64_t ParameterBytes(const ModelConfig& config, Precision precision) {
  return (precision == Precision::kBf16 ? 2 : 4) * ParameterCount(config);
}

int64_t ParameterTensorCount(const ModelConfig& config) {
  return 9 * config.layers + VocabularyTables(config) + 1;
}

std::vector<ComponentParameters> ParametersByComponent(
    const ModelConfig& config) {
  const int64_t square = config.d_model * config.d_attention();
  const int64_t keys = config.d_model * config.d_key_value();
  const int64_t vocabulary = config.vocab * config.d_model;
  std::vector<ComponentParameters> all = {
      {Component::kEmbedding, vocabulary},
      {Component::kProjections, config.layers * (square + 2 * keys)},
      {Component::kOutputProjection, config.layers * square},
      {Component::kFfn, config.layers * 3 * config.d_model * config.d_ff},
      {Component::kNorm, (2 * config.layers + 1) * config.d_model}};
  if (!config.tied_embeddings) all.push_back({Component::kLmHead, vocabulary});
  return all;
}

}  // namespace trainbench
