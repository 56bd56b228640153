// SPDX-License-Identifier: MIT
// A small model that takes each path of its implementation.

#ifndef TRAINBENCH_TESTS_MODEL_TRAINING_SMALL_MODEL_H_
#define TRAINBENCH_TESTS_MODEL_TRAINING_SMALL_MODEL_H_

#include <torch/types.h>

#include "model/nn/transformer_lm.h"

namespace trainbench {

inline ModelConfig SmallConfig(Implementation implementation,
                               AttentionKind attention) {
  return {.name = "m",
          .d_model = 48,
          .d_ff = 100,
          .layers = 2,
          .heads = 3,
          .vocab = 90,
          .attention = attention,
          .implementation = implementation};
}

// The widest dtype of the model: our own kernels do not support float64.
inline at::ScalarType WidestDtype(const ModelConfig& config) {
  return config.implementation == Implementation::kFused ||
                 config.attention == AttentionKind::kOwn
             ? at::kFloat
             : at::kDouble;
}

// The relative error, in norm, allowed between two ways of computing the same
// values in `dtype`.
inline double RoundingOf(at::ScalarType dtype) {
  return dtype == at::kDouble ? 1e-13 : 3e-6;
}

// Returns a model with the same weights each time.
inline TransformerLm SeededModel(const ModelConfig& config,
                                 at::ScalarType dtype) {
  at::manual_seed(1);
  return TransformerLm(config, at::TensorOptions().dtype(dtype));
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_MODEL_TRAINING_SMALL_MODEL_H_
