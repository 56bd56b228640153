// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_ATTENTION_H_
#define TRAINBENCH_MODEL_NN_ATTENTION_H_

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "model/nn/linear.h"
#include "model/nn/rope.h"
#include "model/spec/config.h"

namespace trainbench {

// Softmax over the last dimension in five passes: max, subtract, exp, sum,
// divide. Computed and returned in at least fp32. Move `x` in to free it after
// the first pass.
at::Tensor NaiveSoftmax(at::Tensor x);

// Causal softmax(Q K^T / sqrt(d)) V for q, k, v [..., seq, d] -> [..., seq, d]
// (Vaswani et al. 2017). NaiveAttention builds the mask and the [..., seq, seq]
// scores.
at::Tensor NaiveAttention(const at::Tensor& q, const at::Tensor& k,
                          const at::Tensor& v);
at::Tensor SdpaAttention(const at::Tensor& q, const at::Tensor& k,
                         const at::Tensor& v);

// Causal multi-head self-attention with rotary positions on queries and keys.
class AttentionImpl : public torch::nn::Module {
 public:
  AttentionImpl(const ModelConfig& config, const at::TensorOptions& options);

  // x [batch, seq, d_model] -> same shape.
  at::Tensor forward(const at::Tensor& x);

  Linear q_proj;
  Linear k_proj;
  Linear v_proj;
  Linear output_proj;

 private:
  // [batch, seq, d_model] -> a view [batch, heads, seq, d_head].
  at::Tensor SplitHeads(const at::Tensor& x) const;
  // x [batch, seq, d_model] -> [batch, heads, seq, d_head].
  at::Tensor Project(Linear& linear, const at::Tensor& x) const;
  at::Tensor Rotate(const at::Tensor& x);

  int64_t heads_;
  AttentionKind kind_;
  Rope rope_;
};
TORCH_MODULE(Attention);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_ATTENTION_H_
