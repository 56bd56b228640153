// SPDX-License-Identifier: MIT

#include "model/nn/attention.h"

#include <torch/types.h>

#include <cmath>
#include <utility>
#include <vector>

#include "model/fused/softmax.h"
#include "model/nn/attention/variants.h"
#include "model/nn/checkpoint.h"
#include "model/nn/component.h"
#include "model/nn/dtype.h"

namespace trainbench {
namespace {

// Naive attention with scale, mask and softmax fused into one in-place pass.
at::Tensor FusedNaiveAttention(const at::Tensor& q, const at::Tensor& k,
                               const at::Tensor& v) {
  at::Tensor weights;
  {
    const ComponentScope scope(Component::kScores);
    weights = at::matmul(q, k.transpose(-2, -1));
  }
  {
    const ComponentScope scope(Component::kSoftmax);
    weights = CausalSoftmax(std::move(weights),
                            1 / std::sqrt(static_cast<double>(q.size(-1))));
  }
  const ComponentScope scope(Component::kValue);
  return at::matmul(weights, v);
}

// Copies [batch, kv_heads, seq, d_head] -> [batch, heads, seq, d_head]. The
// heads that read the same key and value head are adjacent.
at::Tensor Repeat(const at::Tensor& x, int64_t heads) {
  const int64_t group = heads / x.size(1);
  return x.unsqueeze(2).expand({-1, -1, group, -1, -1}).flatten(1, 2);
}

// Returns q, k and v with equally many heads; `qkv` itself if it has them.
std::vector<at::Tensor> RepeatKeysAndValues(
    const std::vector<at::Tensor>& qkv) {
  const int64_t heads = qkv[0].size(1);
  if (qkv[1].size(1) == heads) return qkv;
  const ComponentScope scope(Component::kProjections);
  return {qkv[0], Repeat(qkv[1], heads), Repeat(qkv[2], heads)};
}

// Views of qkv [batch, seq, (heads + 2 kv_heads) d_head].
Heads Split(const at::Tensor& qkv, int64_t heads, int64_t kv_heads) {
  const std::vector<at::Tensor> parts =
      qkv.unflatten(-1, {heads + 2 * kv_heads, -1})
          .transpose(1, 2)
          .split_with_sizes({heads, kv_heads, kv_heads}, 1);
  return {parts[0], parts[1], parts[2]};
}

}  // namespace

AttentionImpl::AttentionImpl(const ModelConfig& config,
                             const at::TensorOptions& options)
    : q_proj(nullptr),
      k_proj(nullptr),
      v_proj(nullptr),
      output_proj(nullptr),
      heads_(config.heads),
      kv_heads_(config.key_value_heads()),
      kind_(config.attention),
      is_checkpointed_(config.checkpointing.kind ==
                       Checkpointing::Kind::kAttention),
      is_fused_(config.implementation == Implementation::kFused) {
  if (config.positions == Positions::kRope) rope_.emplace(config.d_head());
  const int64_t d = config.d_model, heads = config.d_attention(),
                kv_heads = config.d_key_value();
  const bool has_bias = config.has_biases();
  const std::vector<Linear> in = MakeLinears(
      d, {heads, kv_heads, kv_heads}, options, config.implementation, has_bias);
  q_proj = register_module("q_proj", in[0]);
  k_proj = register_module("k_proj", in[1]);
  v_proj = register_module("v_proj", in[2]);
  output_proj = register_module(
      "output_proj",
      Linear(heads, d, options, config.implementation, has_bias));
}

void AttentionImpl::BuildRopeCache(int64_t seq) {
  if (!rope_) return;
  const ComponentScope scope(Component::kRope);
  const at::TensorOptions options = q_proj->weight.options();
  rope_->Tables(seq, options.dtype(AtLeastFloat(q_proj->weight.scalar_type())));
}

at::Tensor AttentionImpl::Project(Linear& linear, const at::Tensor& x) const {
  const ComponentScope scope(Component::kProjections);
  const int64_t d_head = q_proj->weight.size(0) / heads_;
  const at::Tensor projected = linear(x);
  return projected.unflatten(-1, {projected.size(-1) / d_head, d_head})
      .transpose(1, 2);
}

at::Tensor AttentionImpl::Rotate(const at::Tensor& x) {
  if (!rope_) return x;
  const ComponentScope scope(Component::kRope);
  return rope_->Rotate(x);
}

Heads AttentionImpl::ProjectAndRotate(const at::Tensor& x) {
  if (!is_fused_) {
    at::Tensor q = Rotate(Project(q_proj, x));
    at::Tensor k = Rotate(Project(k_proj, x));
    return {std::move(q), std::move(k), Project(v_proj, x)};
  }
  at::Tensor qkv;
  {
    const ComponentScope scope(Component::kProjections);
    qkv = ProductOf(x, {q_proj, k_proj, v_proj});
    if (!rope_) return Split(qkv, heads_, kv_heads_);
  }
  const ComponentScope scope(Component::kRope);
  const auto [cos, sin] =
      rope_->Tables(x.size(1), at::device(x.device()).dtype(at::kFloat));
  return SplitAndRotate(std::move(qkv), heads_, kv_heads_, cos, sin);
}

at::Tensor AttentionImpl::Mix(const Heads& in) const {
  const auto mix = [kind = kind_, is_fused = is_fused_](
                       const std::vector<at::Tensor>& projected) {
    const std::vector<at::Tensor> heads = RepeatKeysAndValues(projected);
    const bool fused_softmax = is_fused && kind == AttentionKind::kNaive;
    return std::vector<at::Tensor>{
        fused_softmax ? FusedNaiveAttention(heads[0], heads[1], heads[2])
                      : ComputeAttention(kind, heads[0], heads[1], heads[2])};
  };
  const std::vector<at::Tensor> heads = {in.q, in.k, in.v};
  return is_checkpointed_ ? Checkpoint(mix, heads, {}).front()
                          : mix(heads).front();
}

at::Tensor AttentionImpl::forward(const at::Tensor& x) {
  const SpanScope sublayer(kAttentionSpan);
  const Heads in = ProjectAndRotate(x);
  at::Tensor mixed = Mix(in);
  const ComponentScope scope(Component::kOutputProjection);
  mixed = mixed.transpose(1, 2).flatten(-2);
  return output_proj(mixed);
}

}  // namespace trainbench
