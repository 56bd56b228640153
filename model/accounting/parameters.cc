// SPDX-License-Identifier: MIT

#include "model/accounting/parameters.h"

namespace trainbench {

int64_t BlockMatrixParameters(const ModelConfig& config) {
  return 2 * config.d_model * (config.d_attention() + config.d_key_value()) +
         3 * config.d_model * config.d_ff;
}

int64_t BlockParameters(const ModelConfig& config) {
  return BlockMatrixParameters(config) + 2 * config.d_model;
}

int64_t ParameterCount(const ModelConfig& config) {
  return 2 * config.vocab * config.d_model +
         config.layers * BlockParameters(config) + config.d_model;
}

int64_t ParameterBytes(const ModelConfig& config, Precision precision) {
  return (precision == Precision::kBf16 ? 2 : 4) * ParameterCount(config);
}

int64_t ParameterTensorCount(const ModelConfig& config) {
  return 9 * config.layers + 3;
}

std::vector<ComponentParameters> ParametersByComponent(
    const ModelConfig& config) {
  const int64_t square = config.d_model * config.d_attention();
  const int64_t keys = config.d_model * config.d_key_value();
  const int64_t vocabulary = config.vocab * config.d_model;
  return {{Component::kEmbedding, vocabulary},
          {Component::kProjections, config.layers * (square + 2 * keys)},
          {Component::kOutputProjection, config.layers * square},
          {Component::kFfn, config.layers * 3 * config.d_model * config.d_ff},
          {Component::kNorm, (2 * config.layers + 1) * config.d_model},
          {Component::kLmHead, vocabulary}};
}

}  // namespace trainbench
