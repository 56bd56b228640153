// SPDX-License-Identifier: MIT

#include "model/nn/feed_forward.h"

#include <torch/types.h>

#include <cstdint>
#include <numbers>
#include <vector>

#include "model/fused/swiglu.h"
#include "model/nn/component.h"

namespace trainbench {
namespace {

// The activation between the two matrices of an MLP without a gate.
at::Tensor Activate(at::Tensor x, Mlp mlp, Implementation implementation) {
  const bool is_textbook = implementation == Implementation::kTextbook;
  if (mlp == Mlp::kGelu) {
    if (!is_textbook) return at::gelu(x);
    return x * ((x * (1 / std::numbers::sqrt2)).erf() + 1) * 0.5;
  }
  x = is_textbook ? x.clamp_min(0) : at::relu(x);
  return x * x;
}

}  // namespace

FeedForwardImpl::FeedForwardImpl(const ModelConfig& config,
                                 const at::TensorOptions& options)
    : w1(nullptr),
      w3(nullptr),
      w2(nullptr),
      mlp_(config.mlp),
      implementation_(config.implementation) {
  const bool has_bias = config.has_biases();
  const std::vector<int64_t> outs(config.has_gate() ? 2 : 1, config.d_ff);
  const std::vector<Linear> up =
      MakeLinears(config.d_model, outs, options, implementation_, has_bias);
  w1 = register_module("w1", up[0]);
  if (config.has_gate()) w3 = register_module("w3", up[1]);
  w2 = register_module("w2", Linear(config.d_ff, config.d_model, options,
                                    implementation_, has_bias));
}

at::Tensor FeedForwardImpl::forward(const at::Tensor& x) {
  const ComponentScope scope(Component::kFfn);
  if (w3.is_empty()) return w2(Activate(w1(x), mlp_, implementation_));
  if (implementation_ == Implementation::kFused) {
    return w2(Swiglu(ProductOf(x, {w1, w3})));
  }
  if (implementation_ == Implementation::kLibrary) {
    return w2(at::silu(w1(x)) * w3(x));
  }
  at::Tensor hidden = w1(x);
  hidden = hidden * hidden.sigmoid();
  return w2(hidden * w3(x));
}

}  // namespace trainbench
