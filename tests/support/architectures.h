// SPDX-License-Identifier: MIT
// A model's sizes in other architectures than the default one.

#ifndef TRAINBENCH_TESTS_SUPPORT_ARCHITECTURES_H_
#define TRAINBENCH_TESTS_SUPPORT_ARCHITECTURES_H_

#include <ostream>

#include "model/spec/config.h"

namespace trainbench {

inline ModelConfig Unchanged(ModelConfig config) { return config; }

// Without biases of matrices: unless positions are rotary, the keys' bias adds
// the same to all scores of a query, so its gradient is 0, and computed it is
// rounding.
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

// Of a gate, which the fused implementation joins with the value.
inline ModelConfig GateBiased(ModelConfig config) {
  config.biases = Biases::kAll;
  return config;
}

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
                                                  {"gate_biased", GateBiased}};

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_ARCHITECTURES_H_
