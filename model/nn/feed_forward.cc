// SPDX-License-Identifier: MIT

#include "model/nn/feed_forward.h"

#include <torch/types.h>

#include "model/fused/product.h"
#include "model/fused/swiglu.h"
#include "model/nn/component.h"

namespace trainbench {

FeedForwardImpl::FeedForwardImpl(const ModelConfig& config,
                                 const at::TensorOptions& options)
    : w1(nullptr),
      w3(nullptr),
      w2(nullptr),
      implementation_(config.implementation) {
  const std::vector<Linear> up =
      MakeLinears(config.d_model, {config.d_ff, config.d_ff},
                  implementation_ == Implementation::kFused, options);
  w1 = register_module("w1", up[0]);
  w3 = register_module("w3", up[1]);
  w2 = register_module(
      "w2", Linear(config.d_ff, config.d_model, options, implementation_));
}

at::Tensor FeedForwardImpl::forward(const at::Tensor& x) {
  const ComponentScope scope(Component::kFfn);
  if (implementation_ == Implementation::kFused) {
    return w2(Swiglu(JoinedProduct(x, {w1->weight, w3->weight})));
  }
  if (implementation_ == Implementation::kLibrary) {
    return w2(at::silu(w1(x)) * w3(x));
  }
  at::Tensor hidden = w1(x);
  hidden = hidden * hidden.sigmoid();
  return w2(hidden * w3(x));
}

}  // namespace trainbench
