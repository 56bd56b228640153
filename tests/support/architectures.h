// SPDX-License-Identifier: MIT
// Configurations of a model that differ from the default architecture.

#ifndef TRAINBENCH_TESTS_SUPPORT_ARCHITECTURES_H_
#define TRAINBENCH_TESTS_SUPPORT_ARCHITECTURES_H_

#include <ostream>

#include "model/spec/config.h"

namespace trainbench {

inline ModelConfig Unchanged(ModelConfig config) { return config; }

// Only the norms have biases: unless positions are rotary, the keys' bias adds
// the same value to all scores of a query, so its exact gradient is 0 and its
// computed gradient is only rounding error.
inline ModelConfig Gpt(ModelConfig config) {
  config.mlp = Mlp::kGelu;
  config.norm = Normalization::kLayer;
  config.biases = Biases::kNorms;
  config.positions = Positions::kLearned;
  config.context = 200;
  return config;
}

inline ModelConfig Biased(ModelConfig config) {
  config.mlp = Mlp::kRelu2;
  config.norm = Normalization::kLayer;
  config.biases = Biases::kAll;
  return config;
}

// A bias of the gate, which the fused implementation joins with the value.
inline ModelConfig GateBiased(ModelConfig config) {
  config.biases = Biases::kAll;
  return config;
}

// LayerNorm without biases.
inline ModelConfig LayerNormed(ModelConfig config) {
  config.mlp = Mlp::kGelu;
  config.norm = Normalization::kLayer;
  return config;
}

// Three query heads share one head of keys and values.
inline ModelConfig Grouped(ModelConfig config) {
  config.kv_heads = config.heads / 3;
  return config;
}

inline ModelConfig Tied(ModelConfig config) {
  config.tied_embeddings = true;
  return config;
}

inline ModelConfig Shared(ModelConfig config) { return Tied(Grouped(config)); }

struct Architecture {
  const char* name;
  ModelConfig (*of)(ModelConfig);
};

inline void PrintTo(const Architecture& architecture, std::ostream* out) {
  *out << architecture.name;
}

inline constexpr Architecture kArchitectures[] = {{"usual", Unchanged},
                                                  {"gpt", Gpt},
                                                  {"biased", Biased},
                                                  {"gate_biased", GateBiased},
                                                  {"shared", Shared}};

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_ARCHITECTURES_H_
