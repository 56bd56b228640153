// SPDX-License-Identifier: MIT

#include "model/nn/attention.h"

#include <torch/types.h>

#include <cmath>
#include <limits>

#include "model/nn/component.h"
#include "model/nn/dtype.h"

namespace trainbench {
namespace {

// [seq, seq], true where a query (row) may see a key (column).
at::Tensor CausalMask(int64_t seq, at::Device device) {
  const SpanScope scope(kMaskSpan);
  const at::Tensor position = at::arange(seq, at::device(device));
  return position.unsqueeze(1) >= position.unsqueeze(0);
}

// Q K^T / sqrt(d), and -inf where a query may not see a key.
at::Tensor MaskedScores(const at::Tensor& q, const at::Tensor& k) {
  const ComponentScope scope(Component::kScores);
  const double scale = std::sqrt(static_cast<double>(q.size(-1)));
  at::Tensor scores = at::matmul(q, k.transpose(-2, -1));
  scores = scores / scale;
  return at::where(CausalMask(q.size(-2), q.device()), scores,
                   -std::numeric_limits<double>::infinity());
}

}  // namespace

// Each assignment frees the previous tensor: without a graph at most two [...,
// seq, seq] tensors are alive at once.
at::Tensor NaiveSoftmax(at::Tensor x) {
  x = x.to(AtLeastFloat(x.scalar_type()));
  x = x - std::get<0>(x.max(-1, /*keepdim=*/true));
  x = x.exp();
  return x / x.sum(-1, /*keepdim=*/true);
}

at::Tensor NaiveAttention(const at::Tensor& q, const at::Tensor& k,
                          const at::Tensor& v) {
  at::Tensor scores = MaskedScores(q, k);
  {
    const ComponentScope scope(Component::kSoftmax);
    scores = NaiveSoftmax(std::move(scores));
    scores = scores.to(v.scalar_type());
  }
  const ComponentScope scope(Component::kValue);
  return at::matmul(scores, v);
}

at::Tensor SdpaAttention(const at::Tensor& q, const at::Tensor& k,
                         const at::Tensor& v) {
  const ComponentScope scope(Component::kFusedAttention);
  return at::scaled_dot_product_attention(q, k, v, /*attn_mask=*/{},
                                          /*dropout_p=*/0.0,
                                          /*is_causal=*/true);
}

AttentionImpl::AttentionImpl(const ModelConfig& config,
                             const at::TensorOptions& options)
    : q_proj(register_module("q_proj",
                             Linear(config.d_model, config.d_model, options))),
      k_proj(register_module("k_proj",
                             Linear(config.d_model, config.d_model, options))),
      v_proj(register_module("v_proj",
                             Linear(config.d_model, config.d_model, options))),
      output_proj(register_module(
          "output_proj", Linear(config.d_model, config.d_model, options))),
      heads_(config.heads),
      kind_(config.attention),
      rope_(config.d_head()) {}

at::Tensor AttentionImpl::SplitHeads(const at::Tensor& x) const {
  return x.unflatten(-1, {heads_, x.size(-1) / heads_}).transpose(1, 2);
}

at::Tensor AttentionImpl::Project(Linear& linear, const at::Tensor& x) const {
  const ComponentScope scope(Component::kProjections);
  return SplitHeads(linear(x));
}

at::Tensor AttentionImpl::Rotate(const at::Tensor& x) {
  const ComponentScope scope(Component::kRope);
  return rope_.Rotate(x);
}

at::Tensor AttentionImpl::forward(const at::Tensor& x) {
  const SpanScope sublayer(kAttentionSpan);
  const at::Tensor q = Rotate(Project(q_proj, x));
  const at::Tensor k = Rotate(Project(k_proj, x));
  const at::Tensor v = Project(v_proj, x);
  at::Tensor mixed = kind_ == AttentionKind::kNaive ? NaiveAttention(q, k, v)
                                                    : SdpaAttention(q, k, v);
  const ComponentScope scope(Component::kOutputProjection);
  mixed = mixed.transpose(1, 2).flatten(-2);
  return output_proj(mixed);
}

}  // namespace trainbench
