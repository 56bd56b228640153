// SPDX-License-Identifier: MIT

#include "model/verification/reference.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace trainbench {
namespace {

// Queries per chunk of scores, which would be too large for a long sequence.
constexpr int64_t kQueries = 256;

// The model's formulas in float64.
class Reference {
 public:
  Reference(const TransformerLm& model, double along_gradient)
      : model_(model), along_gradient_(along_gradient) {}

  at::Tensor Logits(const at::Tensor& tokens) const {
    at::Tensor x = Rows(model_->token_embeddings->weight, tokens);
    if (!model_->position_embeddings.is_empty()) {
      x = x + Rows(model_->position_embeddings->weight,
                   at::arange(tokens.size(-1), tokens.options()));
    }
    for (const Block& layer : model_->layers) {
      x = x + Attention(*layer->attn, Norm(*layer->ln1, x));
      x = x + FeedForward(*layer->ffn, Norm(*layer->ln2, x));
    }
    return Multiply(model_->lm_head, Norm(*model_->ln_final, x));
  }

 private:
  at::Tensor Weight(const at::Tensor& weight) const {
    // Also copies float64 weights, which must not be changed.
    at::Tensor wide = weight.detach().to(at::kDouble, /*non_blocking=*/false,
                                         /*copy=*/true);
    if (along_gradient_ == 0) return wide;
    return wide.add_(weight.grad().to(at::kDouble), along_gradient_);
  }

  at::Tensor Rows(const at::Tensor& table, const at::Tensor& tokens) const {
    at::Tensor rows = at::embedding(table.detach(), tokens).to(at::kDouble);
    if (along_gradient_ == 0) return rows;
    return rows + at::embedding(table.grad(), tokens).to(at::kDouble) *
                      along_gradient_;
  }

  at::Tensor Multiply(const Linear& linear, const at::Tensor& x) const {
    const at::Tensor product =
        at::einsum("bti,oi->bto", {x, Weight(linear->weight)});
    return linear->bias.defined() ? product + Weight(linear->bias) : product;
  }

  // LayerNorm is RMSNorm of x minus its mean.
  at::Tensor Norm(const NormImpl& norm, at::Tensor x) const {
    const auto dim = static_cast<double>(x.size(-1));
    if (model_->config().norm == Normalization::kLayer) {
      x = x - x.sum(-1, /*keepdim=*/true) / dim;
    }
    const at::Tensor squares =
        at::linalg_vector_norm(x, 2, {-1}, true).square();
    const at::Tensor normed =
        x / (squares / dim + kNormEps).sqrt() * Weight(norm.weight);
    return norm.bias.defined() ? normed + Weight(norm.bias) : normed;
  }

  // Channel pairs as complex numbers times e^(i t theta^(-2k / d)). Returns x
  // itself if positions are learned.
  at::Tensor Rotate(const at::Tensor& x) const {
    if (model_->config().positions == Positions::kLearned) return x;
    const int64_t seq = x.size(-2), dim = x.size(-1);
    const at::TensorOptions options = x.options();
    const at::Tensor frequency =
        (at::arange(0, dim, 2, options) * (-std::log(Rope::kTheta) / dim))
            .exp();
    const at::Tensor angle =
        at::arange(seq, options).unsqueeze(1) * frequency.unsqueeze(0);
    const at::Tensor turn = at::polar(at::ones_like(angle), angle);
    const at::Tensor pairs =
        at::view_as_complex(x.contiguous().unflatten(-1, {dim / 2, 2}));
    return at::view_as_real(pairs * turn).flatten(-2);
  }

  // [batch, heads of the matrix, seq, d_head].
  at::Tensor Heads(const Linear& linear, const at::Tensor& x) const {
    return Multiply(linear, x)
        .unflatten(-1, {-1, model_->config().d_head()})
        .transpose(1, 2);
  }

  at::Tensor Attention(const AttentionImpl& attention,
                       const at::Tensor& x) const {
    const at::Tensor q = Rotate(Heads(attention.q_proj, x));
    const at::Tensor k = Rotate(Heads(attention.k_proj, x));
    const at::Tensor v = Heads(attention.v_proj, x);
    std::vector<at::Tensor> rows;
    for (int64_t first = 0; first < x.size(1); first += kQueries) {
      const int64_t count = std::min(kQueries, x.size(1) - first);
      rows.push_back(Attend(q.narrow(2, first, count), k, v, first));
    }
    return Multiply(attention.output_proj, at::cat(rows, 1));
  }

  // The first query is at position `first`. Query head h of H reads head
  // h / (H / K) of the K heads of keys and values.
  static at::Tensor Attend(const at::Tensor& q, const at::Tensor& k,
                           const at::Tensor& v, int64_t first) {
    const at::Tensor hidden =
        at::ones({q.size(2), k.size(2)}, q.options().dtype(at::kBool))
            .triu(first + 1);
    const at::Tensor groups = q.unflatten(1, {k.size(1), -1});
    const at::Tensor scores = at::einsum("bhgqd,bhkd->bhgqk", {groups, k}) *
                              (1 / std::sqrt(static_cast<double>(q.size(-1))));
    const at::Tensor weights =
        scores.masked_fill(hidden, -std::numeric_limits<double>::infinity())
            .softmax(-1);
    return at::einsum("bhgqk,bhkd->bqhgd", {weights, v}).flatten(-3);
  }

  at::Tensor FeedForward(const FeedForwardImpl& ffn,
                         const at::Tensor& x) const {
    at::Tensor a = Multiply(ffn.w1, x);
    switch (model_->config().mlp) {
      case Mlp::kSwiglu:
        a = at::silu(a) * Multiply(ffn.w3, x);
        break;
      case Mlp::kGelu:
        a = a * at::special_ndtr(a);  // the normal distribution function
        break;
      case Mlp::kRelu2:
        a = at::where(a > 0, a.square(), 0);
        break;
    }
    return Multiply(ffn.w2, a);
  }

  const TransformerLm& model_;
  double along_gradient_;
};

}  // namespace

at::Tensor ReferenceLogits(const TransformerLm& model, const at::Tensor& tokens,
                           double along_gradient) {
  const at::NoGradGuard no_grad;
  return Reference(model, along_gradient).Logits(tokens);
}

}  // namespace trainbench
