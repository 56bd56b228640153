// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_ATTENTION_H_
#define TRAINBENCH_MODEL_NN_ATTENTION_H_

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <optional>

#include "model/fused/rope.h"
#include "model/nn/linear.h"
#include "model/nn/rope.h"
#include "model/spec/config.h"

namespace trainbench {

// Causal multi-head self-attention. Rotates queries and keys unless the model
// has learned positions. If the config has fewer key and value heads than query
// heads, each is repeated for the queries that read it, so that every variant
// of attention sees equally many. In the fused implementation, the projections
// to queries, keys and values are one product, which the rotation overwrites.
class AttentionImpl : public torch::nn::Module {
 public:
  AttentionImpl(const ModelConfig& config, const at::TensorOptions& options);

  // x [batch, seq, d_model] -> same shape.
  at::Tensor forward(const at::Tensor& x);

  // Builds the rotary tables for sequences of up to `seq` positions, which the
  // first forward pass would build.
  void BuildRopeCache(int64_t seq);

  Linear q_proj;
  Linear k_proj;
  Linear v_proj;
  Linear output_proj;

 private:
  // x [batch, seq, d_model] -> [batch, heads of the matrix, seq, d_head].
  at::Tensor Project(Linear& linear, const at::Tensor& x) const;
  // Returns x itself if positions are learned.
  at::Tensor Rotate(const at::Tensor& x);
  // x [batch, seq, d_model] -> rotated q and k, and v.
  Heads ProjectAndRotate(const at::Tensor& x);
  at::Tensor Mix(const Heads& in) const;

  int64_t heads_;
  int64_t kv_heads_;
  AttentionKind kind_;
  bool is_checkpointed_;
  bool is_fused_;
  std::optional<Rope> rope_;
};
TORCH_MODULE(Attention);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_ATTENTION_H_
