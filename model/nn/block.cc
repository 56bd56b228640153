// SPDX-License-Identifier: MIT

#include "model/nn/block.h"

#include <torch/types.h>

#include "model/nn/component.h"

namespace trainbench {

BlockImpl::BlockImpl(const ModelConfig& config,
                     const at::TensorOptions& options)
    : ln1(register_module(
          "ln1", RmsNorm(config.d_model, options, config.implementation))),
      attn(register_module("attn", Attention(config, options))),
      ln2(register_module(
          "ln2", RmsNorm(config.d_model, options, config.implementation))),
      ffn(register_module("ffn", FeedForward(config, options))),
      is_fused_(config.implementation == Implementation::kFused) {}

void BlockImpl::Add(ResidualStream& stream, at::Tensor update) const {
  if (is_fused_) {
    stream.update = std::move(update);
    return;
  }
  const ComponentScope scope(Component::kResidual);
  stream.x = stream.x + update;
}

void BlockImpl::forward(ResidualStream& stream) {
  if (hooks_.before) hooks_.before();
  Add(stream, attn(ln1->AddAndNorm(stream)));
  Add(stream, ffn(ln2->AddAndNorm(stream)));
  if (hooks_.after) hooks_.after(stream);
}

}  // namespace trainbench
