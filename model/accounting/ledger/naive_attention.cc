// SPDX-License-Identifier: MIT
// Attention with the scores in memory: model/nn/attention/naive.cc, and the
// same with the fused softmax (model/nn/attention.cc).

#include <utility>

#include "model/accounting/ledger/attention.h"

namespace trainbench::ledger {
namespace {

using enum Component;
using enum TensorType;

// The gradients of weights and v from that of their product; frees the two.
std::pair<Tensor, Tensor> ValueBackward(AttentionScene& s, Tensor gradient,
                                        Tensor& weights, Tensor& v) {
  s.Enter("value backward");
  s.component = kValue;
  gradient = s.Separated(gradient, "gradient of the output");
  Tensor of_v = s.Operands("gradient of v", s.projection);
  Tensor of_weights = s.Operands("gradient of the weights", s.scores);
  Free(gradient, v, weights);
  return {std::move(of_weights), std::move(of_v)};
}

Heads ScoresBackward(AttentionScene& s, Tensor gradient, Tensor of_v, Tensor& q,
                     Tensor& k) {
  s.Enter("scores backward");
  s.component = kScores;
  Tensor of_k = s.Operands("gradient of k", s.projection);
  Tensor of_q = s.Operands("gradient of q", s.projection);
  Free(gradient, k, q);
  return {std::move(of_q), std::move(of_k), std::move(of_v)};
}

// Of a row's maximum or sum of exponentials, which autograd needs.
struct SoftmaxKept {
  Tensor indices, exponentials, sums;
};

Tensor Softmax(AttentionScene& s, Tensor x, SoftmaxKept& kept) {
  s.component = kSoftmax;
  if (s.sizes.bf16) x = s.Floats("fp32 scores", s.scores);
  {
    const Tensor maxima = s.Floats("row maxima", s.rows);
    const Tensor indices = s.Make("indices of the row maxima", s.rows, kLong);
    x = s.Floats("scores - maxima", s.scores);
    kept.indices = s.Save(indices);
  }
  x = s.Floats("exp(scores)", s.scores);
  kept.exponentials = s.Save(x);
  {
    const Tensor sums = s.Floats("row sums", s.rows);
    kept.sums = s.Save(sums);
    x = s.Floats(s.sizes.bf16 ? "fp32 weights" : "weights", s.scores);
  }
  if (s.sizes.bf16) x = s.Operands("weights", s.scores);
  return x;
}

// From the gradient of the weights that of the scores.
Tensor SoftmaxBackward(AttentionScene& s, Tensor gradient, SoftmaxKept& kept) {
  s.Enter("softmax backward");
  s.component = kSoftmax;
  const auto scores = [&](const char* name) {
    return s.Floats(name, s.scores);
  };
  if (s.sizes.bf16) gradient = scores("fp32 gradient of the weights");
  Tensor of_exponentials, of_sums;
  {
    Tensor quotient = scores("weights / sums");
    Tensor second = scores("weights / sums");
    Tensor negated = scores("-gradient");
    const Tensor product = scores("gradient of the sums, by element");
    Free(negated, second, quotient);
    of_exponentials = scores("gradient of exp(scores)");
    of_sums = s.Floats("gradient of the sums", s.rows);
  }
  gradient.Reset();
  kept.sums.Reset();
  of_sums.Reset();
  gradient = scores("gradient of the scores");
  of_exponentials.Reset();
  kept.exponentials.Reset();
  Tensor negated = scores("-gradient");
  Tensor of_maxima = s.Floats("gradient of the maxima", s.rows);
  negated.Reset();
  const Tensor spread = scores("gradient of the maxima, by element");
  of_maxima.Reset();
  kept.indices.Reset();
  return gradient;
}

}  // namespace

AttentionResult NaiveMemory(AttentionScene& s, const Heads& in) {
  s.component = kScores;
  Tensor mask, x;
  {
    x = s.Operands("scores", s.scores);
    x = s.Operands("scaled scores", s.scores);
    Tensor positions = s.Make("positions", {"T", s.sizes.seq}, kLong);
    const Tensor all = s.Make("causal mask", s.mask, kBool);
    positions.Reset();
    mask = s.Save(all);
    x = s.Operands("masked scores", s.scores);
  }
  SoftmaxKept kept;
  x = Softmax(s, std::move(x), kept);
  s.component = kValue;
  Tensor v = s.Separated(in.v, "v");
  AttentionResult result = {s.Operands("heads", s.projection)};
  result.transposed_k_gradient = true;
  if (!s.sizes.graph) return result;
  result.backward = [&s, q = in.q, k = in.k, mask, kept, weights = x,
                     v](Tensor gradient) mutable {
    auto [of_scores, of_v] = ValueBackward(s, std::move(gradient), weights, v);
    of_scores = SoftmaxBackward(s, std::move(of_scores), kept);
    if (s.sizes.bf16) {
      of_scores = s.Operands("gradient of the scores", s.scores);
    }
    s.component = kScores;
    of_scores = s.Operands("masked gradient", s.scores);
    mask.Reset();
    of_scores = s.Operands("scaled gradient", s.scores);
    return ScoresBackward(s, std::move(of_scores), std::move(of_v), q, k);
  };
  return result;
}

AttentionResult FusedNaiveMemory(AttentionScene& s, const Heads& in) {
  s.component = kScores;
  Tensor q, k, weights;
  {
    const Tensor rows = s.Separated(in.q, "q"),
                 columns = s.Separated(in.k, "k");
    weights = s.Operands("weights", s.scores);
    q = s.Save(rows);
    k = s.Save(columns);
  }
  s.component = kValue;
  Tensor v = s.Separated(in.v, "v");
  AttentionResult result = {s.Operands("heads", s.projection)};
  result.transposed_k_gradient = true;
  if (!s.sizes.graph) return result;
  // Both the product and the softmax need the weights.
  result.backward = [&s, q, k, weights, v,
                     of_product = weights](Tensor gradient) mutable {
    auto [of_weights, of_v] =
        ValueBackward(s, std::move(gradient), of_product, v);
    s.Enter("softmax backward");
    s.component = kSoftmax;
    of_weights = s.Operands("gradient of the scores", s.scores);
    weights.Reset();
    return ScoresBackward(s, std::move(of_weights), std::move(of_v), q, k);
  };
  return result;
}

}  // namespace trainbench::ledger
