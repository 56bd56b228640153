// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_TRANSFORMER_LM_H_
#define TRAINBENCH_MODEL_NN_TRANSFORMER_LM_H_

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/pimpl.h>

#include <cstddef>
#include <vector>

#include "model/nn/block.h"
#include "model/nn/layer_ranks.h"
#include "model/nn/linear.h"
#include "model/nn/norm.h"
#include "model/spec/config.h"

namespace trainbench {

// Decoder-only Transformer language model. Its parameters have the usual names
// of a PyTorch state dict, e.g. layers.0.attn.q_proj.weight. An output head
// that is tied to the token embeddings has no parameter of its own.
class TransformerLmImpl : public torch::nn::Module {
 public:
  // `options` gives device and dtype of the parameters. Weights are drawn from
  // the device's default generator; the meta device allocates nothing. Throws
  // c10::Error if `config` does not pass Validate(). `ranks`, if any, split the
  // model and must outlive it; `config` then describes this rank's part.
  TransformerLmImpl(const ModelConfig& config, const at::TensorOptions& options,
                    LayerRanks* ranks = nullptr);

  // tokens [batch, seq] (int64) -> logits [batch, seq, vocab]. Checkpoints
  // segments of blocks if the config says so. Throws c10::Error if seq exceeds
  // the config's context.
  at::Tensor forward(const at::Tensor& tokens);

  // Builds the rotary tables of all layers (AttentionImpl::BuildRopeCache).
  void BuildRopeCache(int64_t seq);

  // The scalar loss of these logits, moved in (model/nn/cross_entropy.h).
  at::Tensor Loss(at::Tensor logits, const at::Tensor& targets) const;

  const ModelConfig& config() const { return config_; }

  torch::nn::Embedding token_embeddings;
  // Empty unless positions are learned.
  torch::nn::Embedding position_embeddings;
  std::vector<Block> layers;
  Norm ln_final;
  Linear lm_head;
  // Made once, as in a training loop: parameters() makes a map of names.
  std::vector<at::Tensor> parameter_list;

 private:
  // Consecutive layers that are recomputed together; the first has this number.
  struct Segment {
    std::size_t first;
    std::vector<Block> layers = {};
    std::vector<at::Tensor> parameters = {};
  };

  // tokens [batch, seq] -> [batch, seq, d_model].
  at::Tensor Embed(const at::Tensor& tokens);
  void RunLayers(ResidualStream& stream);
  at::Tensor FinalNorm(ResidualStream& stream);

  ModelConfig config_;
  LayerRanks* ranks_;
  std::vector<Segment> segments_;  // empty: no checkpoints
};
TORCH_MODULE(TransformerLm);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_TRANSFORMER_LM_H_
