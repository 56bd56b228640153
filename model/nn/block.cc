// SPDX-License-Identifier: MIT

#include "model/nn/block.h"

#include <torch/types.h>

#include "model/nn/component.h"

namespace trainbench {
namespace {

at::Tensor Add(const at::Tensor& residual, const at::Tensor& update) {
  const ComponentScope scope(Component::kResidual);
  return residual + update;
}

}  // namespace

BlockImpl::BlockImpl(const ModelConfig& config,
                     const at::TensorOptions& options)
    : ln1(register_module("ln1", RmsNorm(config.d_model, options))),
      attn(register_module("attn", Attention(config, options))),
      ln2(register_module("ln2", RmsNorm(config.d_model, options))),
      ffn(register_module("ffn", FeedForward(config, options))) {}

at::Tensor BlockImpl::forward(at::Tensor x) {
  x = Add(x, attn(ln1(x)));
  return Add(x, ffn(ln2(x)));
}

}  // namespace trainbench
