// SPDX-License-Identifier: MIT
// Attention as separate operations, with the scores in memory.

#include "model/nn/attention/naive.h"

#include <torch/types.h>

#include <cmath>
#include <limits>
#include <utility>

#include "model/nn/attention/variants.h"
#include "model/nn/component.h"
#include "model/nn/dtype.h"

namespace trainbench {
namespace {

// [seq, seq], true where a query (row) may attend to a key (column).
at::Tensor CausalMask(int64_t seq, at::Device device) {
  const SpanScope scope(kMaskSpan);
  const at::Tensor position = at::arange(seq, at::device(device));
  return position.unsqueeze(1) >= position.unsqueeze(0);
}

// Q K^T / sqrt(d), and -inf where a query may not attend to a key.
at::Tensor MaskedScores(const at::Tensor& q, const at::Tensor& k) {
  const ComponentScope scope(Component::kScores);
  const double scale = std::sqrt(static_cast<double>(q.size(-1)));
  at::Tensor scores = at::matmul(q, k.transpose(-2, -1));
  scores = scores / scale;
  return at::where(CausalMask(q.size(-2), q.device()), scores,
                   -std::numeric_limits<double>::infinity());
}

}  // namespace

// Each assignment frees the previous tensor: without a graph, at most two [...,
// seq, seq] tensors are allocated at a time.
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

}  // namespace trainbench
