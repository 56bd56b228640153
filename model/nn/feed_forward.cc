// SPDX-License-Identifier: MIT

#include "model/nn/feed_forward.h"

#include <torch/types.h>

#include "model/nn/component.h"

namespace trainbench {

FeedForwardImpl::FeedForwardImpl(const ModelConfig& config,
                                 const at::TensorOptions& options)
    : w1(register_module("w1", Linear(config.d_model, config.d_ff, options))),
      w3(register_module("w3", Linear(config.d_model, config.d_ff, options))),
      w2(register_module("w2", Linear(config.d_ff, config.d_model, options))) {}

at::Tensor FeedForwardImpl::forward(const at::Tensor& x) {
  const ComponentScope scope(Component::kFfn);
  at::Tensor hidden = w1(x);
  hidden = hidden * hidden.sigmoid();
  return w2(hidden * w3(x));
}

}  // namespace trainbench
