// SPDX-License-Identifier: MIT

#include "model/accounting/parameters.h"

namespace trainbench {
namespace {

using Parts = std::vector<ComponentParameters>;

int64_t Sum(const Parts& parts, int64_t ComponentParameters::*of) {
  int64_t sum = 0;
  for (const ComponentParameters& part : parts) sum += part.*of;
  return sum;
}

Parts LinearLayersOfBlock(const ModelConfig& config) {
  const int64_t d = config.d_model, matrices = config.has_gate() ? 3 : 2;
  const int64_t projected = config.d_attention() + 2 * config.d_key_value();
  const auto layers = [&](Component component, int64_t count, int64_t elements,
                          int64_t biases) -> ComponentParameters {
    if (!config.has_biases()) return {component, elements, elements, count};
    return {component, elements + biases, elements, 2 * count};
  };
  return {layers(Component::kProjections, 3, d * projected, projected),
          layers(Component::kOutputProjection, 1, d * config.d_attention(), d),
          layers(Component::kFfn, matrices, matrices * d * config.d_ff,
                 (matrices - 1) * config.d_ff + d)};
}

}  // namespace

int64_t BlockMatrixParameters(const ModelConfig& config) {
  return Sum(LinearLayersOfBlock(config), &ComponentParameters::multiplied);
}

int64_t NormParameters(const ModelConfig& config) {
  return (config.norms_have_biases() ? 2 : 1) * config.d_model;
}

int64_t BlockParameters(const ModelConfig& config) {
  return Sum(LinearLayersOfBlock(config), &ComponentParameters::elements) +
         2 * NormParameters(config);
}

int64_t ParameterCount(const ModelConfig& config) {
  return Sum(ParametersByComponent(config), &ComponentParameters::elements);
}

int64_t ParameterBytes(const ModelConfig& config, Precision precision) {
  return WeightBytes(precision) * ParameterCount(config);
}

int64_t ParameterTensorCount(const ModelConfig& config) {
  return Sum(ParametersByComponent(config), &ComponentParameters::tensors);
}

Parts ParametersByComponent(const ModelConfig& config) {
  const int64_t vocabulary = config.vocab * config.d_model;
  const int64_t positions = config.context * config.d_model;
  const int64_t norms = 2 * config.layers + 1;
  Parts all = {{Component::kEmbedding, vocabulary + positions, 0,
                positions > 0 ? 2 : 1}};
  for (const auto& [component, elements, multiplied, tensors] :
       LinearLayersOfBlock(config)) {
    all.push_back({component, config.layers * elements,
                   config.layers * multiplied, config.layers * tensors});
  }
  all.push_back({Component::kNorm, norms * NormParameters(config), 0,
                 norms * (config.norms_have_biases() ? 2 : 1)});
  if (!config.tied_embeddings) {
    all.push_back({Component::kLmHead, vocabulary, vocabulary, 1});
  }
  return all;
}

}  // namespace trainbench
