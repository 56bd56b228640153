// SPDX-License-Identifier: MIT
// Small models with given weights, and the comparison of their gradients.

#ifndef TRAINBENCH_TESTS_MODEL_TRAINING_SMALL_MODEL_H_
#define TRAINBENCH_TESTS_MODEL_TRAINING_SMALL_MODEL_H_

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>

#include "model/nn/transformer_lm.h"

namespace trainbench {

// A small model that takes each path of its implementation.
inline ModelConfig SmallConfig(Implementation implementation,
                               AttentionKind attention) {
  return {.name = "m",
          .d_model = 48,
          .d_ff = 100,
          .layers = 2,
          .heads = 6,
          .vocab = 90,
          .attention = attention,
          .implementation = implementation};
}

// Returns a model with the same weights each time.
inline TransformerLm SeededModel(const ModelConfig& config,
                                 at::ScalarType dtype, uint64_t seed = 1) {
  at::manual_seed(seed);
  return TransformerLm(config, at::TensorOptions().dtype(dtype));
}

// Expects gradients that are equal bit by bit.
inline void ExpectEqualGradients(const TransformerLm& a,
                                 const TransformerLm& b) {
  const auto expected = b->named_parameters();
  for (const auto& item : a->named_parameters()) {
    EXPECT_TRUE(item.value().grad().equal(expected[item.key()].grad()))
        << item.key();
  }
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_MODEL_TRAINING_SMALL_MODEL_H_
