// SPDX-License-Identifier: MIT
// The fused operations' formulas in LibTorch's operations, for float64.

#ifndef TRAINBENCH_TESTS_MODEL_FUSED_FORMULAS_H_
#define TRAINBENCH_TESTS_MODEL_FUSED_FORMULAS_H_

#include <torch/types.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "model/nn/rope.h"

namespace trainbench {

using Tensors = std::vector<at::Tensor>;
using Operation = std::function<Tensors(const Tensors&)>;

inline at::Tensor NormFormula(const at::Tensor& x, const at::Tensor& weight) {
  return weight * x / (x.square().mean(-1, true) + 1e-5).sqrt();
}

// The inputs are the residual, the update and the weight. The sum is normalized
// as it is stored, in `dtype`.
inline Operation AddedNormFormula(at::ScalarType dtype) {
  return [dtype](const Tensors& x) -> Tensors {
    const at::Tensor sum = x[0] + x[1];
    const at::Tensor rounded =
        sum + (sum.to(dtype).to(at::kDouble) - sum).detach();
    return {sum, NormFormula(rounded, x[2])};
  };
}

inline Tensors SwigluFormula(const Tensors& x) {
  const Tensors parts = x[0].chunk(2, -1);
  return {at::silu(parts[0]) * parts[1]};
}

// Hides the keys after each query.
inline at::Tensor CausalScores(const at::Tensor& scores, double scale) {
  const int64_t seq = scores.size(-1);
  const at::Tensor hidden = at::ones({seq, seq}, at::kBool).triu(1);
  return (scores * scale)
      .masked_fill(hidden, -std::numeric_limits<double>::infinity());
}

inline at::Tensor CausalSoftmaxFormula(const at::Tensor& scores, double scale) {
  return CausalScores(scores, scale).softmax(-1);
}

inline at::Tensor AttentionFormula(const at::Tensor& q, const at::Tensor& k,
                                   const at::Tensor& v) {
  const at::Tensor scores = at::matmul(q, k.transpose(-2, -1));
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  return at::matmul(CausalSoftmaxFormula(scores, scale), v);
}

// Returns q, k, v and the output's gradient.
inline Tensors RandomAttention(at::IntArrayRef sizes, at::ScalarType type) {
  at::manual_seed(1);
  Tensors inputs;
  for (int i = 0; i < 4; ++i) {
    inputs.push_back(at::randn(sizes, at::kDouble).to(type));
  }
  return inputs;
}

// The input is qkv [batch, seq, (heads + 2 kv_heads) d_head]. Uses the textbook
// rotation, which is tested against complex numbers.
inline Operation RopeFormula(int64_t heads, int64_t kv_heads, int64_t d_head) {
  return [=](const Tensors& x) -> Tensors {
    Rope rope(d_head);
    const Tensors parts = x[0].unflatten(-1, {heads + 2 * kv_heads, d_head})
                              .split_with_sizes({heads, kv_heads, kv_heads}, 2);
    return {rope.Rotate(parts[0].transpose(1, 2)),
            rope.Rotate(parts[1].transpose(1, 2)), parts[2].transpose(1, 2)};
  };
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_MODEL_FUSED_FORMULAS_H_
