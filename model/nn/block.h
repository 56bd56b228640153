// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_BLOCK_H_
#define TRAINBENCH_MODEL_NN_BLOCK_H_

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <functional>
#include <utility>

#include "model/nn/attention.h"
#include "model/nn/feed_forward.h"
#include "model/nn/layer_ranks.h"
#include "model/nn/linear.h"
#include "model/nn/norm.h"
#include "model/spec/config.h"

namespace trainbench {

// Called around every forward pass of a block, including a recomputed one.
struct BlockHooks {
  std::function<void()> before;
  std::function<void(const ResidualStream& output)> after;
};

// Pre-norm Transformer block: x += attn(ln1(x)); x += ffn(ln2(x)).
class BlockImpl : public torch::nn::Module {
 public:
  // `ranks`, if any, split the block and must outlive it; `config` then
  // describes this rank's part.
  BlockImpl(const ModelConfig& config, const at::TensorOptions& options,
            LayerRanks* ranks = nullptr);

  void forward(ResidualStream& stream);

  // Null functions are not called.
  void SetHooks(BlockHooks hooks) { hooks_ = std::move(hooks); }

  Norm ln1;
  Attention attn;
  Norm ln2;
  FeedForward ffn;

 private:
  // The boundaries of a sublayer that several ranks split.
  at::Tensor Enter(const at::Tensor& normed) const;
  // `output` is the layer that computed `update`.
  at::Tensor Leave(at::Tensor update, const Linear& output) const;
  void Add(ResidualStream& stream, at::Tensor update) const;

  bool is_fused_;
  LayerRanks* ranks_;
  BlockHooks hooks_;
};
TORCH_MODULE(Block);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_BLOCK_H_
