// SPDX-License-Identifier: MIT

#include "model/nn/block.h"

#include <torch/types.h>

#include "model/nn/component.h"

namespace trainbench {

BlockImpl::BlockImpl(const ModelConfig& config,
                     const at::TensorOptions& options, LayerRanks* ranks)
    : ln1(register_module("ln1", Norm(config, options))),
      attn(register_module("attn", Attention(config, options))),
      ln2(register_module("ln2", Norm(config, options))),
      ffn(register_module("ffn", FeedForward(config, options))),
      is_fused_(config.implementation == Implementation::kFused),
      ranks_(ranks) {
  if (ranks == nullptr) return;
  attn->output_proj->LeaveBias();
  ffn->w2->LeaveBias();
}

at::Tensor BlockImpl::Enter(const at::Tensor& normed) const {
  return ranks_ == nullptr ? normed : ranks_->Enter(normed);
}

at::Tensor BlockImpl::Leave(at::Tensor update, const Linear& output) const {
  if (ranks_ == nullptr) return update;
  return output->AddBias(ranks_->Leave(std::move(update)));
}

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
  Add(stream, Leave(attn(Enter(ln1->AddAndNorm(stream))), attn->output_proj));
  Add(stream, Leave(ffn(Enter(ln2->AddAndNorm(stream))), ffn->w2));
  if (hooks_.after) hooks_.after(stream);
}

}  // namespace trainbench
