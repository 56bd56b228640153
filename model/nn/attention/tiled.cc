// SPDX-License-Identifier: MIT

#include "model/nn/attention/tiled.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/fused/arguments.h"
#include "model/nn/attention/variants.h"
#include "model/nn/component.h"
#include "model/nn/dtype.h"

namespace trainbench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// A range of rows: queries or keys.
struct Range {
  Range(int64_t from, int64_t tile, int64_t seq)
      : first(from), size(std::min(tile, seq - from)) {}

  // x [batch, seq, ...] -> a view [batch, size, ...].
  at::Tensor Of(const at::Tensor& x) const { return x.narrow(1, first, size); }

  int64_t first, size;
};

// Scores and their gradients for the tiles of one call, [batch, queries, keys].
class TileMath {
 public:
  explicit TileMath(const at::Tensor& q)
      : type_(q.scalar_type()),
        sum_type_(AtLeastFloat(type_)),
        scale_(1 / std::sqrt(static_cast<double>(q.size(-1)))) {}

  at::TensorOptions SumOptions(const at::Tensor& x) const {
    return x.options().dtype(sum_type_);
  }

  // Whether the mask hides the whole tile.
  bool IsHidden(const Range& queries, const Range& keys) const {
    return keys.first >= queries.first + queries.size;
  }

  // q k^T / sqrt(d), and -inf where a query may not attend to a key.
  at::Tensor Scores(const at::Tensor& q, const at::Tensor& k,
                    const Range& queries, const Range& keys) const {
    at::Tensor scores = Product(q, k.transpose(1, 2)).mul_(scale_);
    if (keys.first + keys.size <= queries.first + 1) return scores;
    const at::Tensor hidden =
        at::ones({queries.size, keys.size}, q.options().dtype(at::kBool))
            .triu_(queries.first - keys.first + 1);
    return scores.masked_fill_(hidden, kMinusInfinity);
  }

  // The gradient of the scores before their scaling.
  at::Tensor ScoreGradient(const at::Tensor& weights, const at::Tensor& g,
                           const at::Tensor& v, const at::Tensor& mean) const {
    return Product(g, v.transpose(1, 2)).sub_(mean).mul_(weights).mul_(scale_);
  }

  // Returned in at least fp32.
  at::Tensor Product(const at::Tensor& a, const at::Tensor& b) const {
    return at::bmm(a.to(type_), b.to(type_)).to(sum_type_);
  }

 private:
  at::ScalarType type_, sum_type_;
  double scale_;
};

class TiledAttentionFunction
    : public torch::autograd::Function<TiledAttentionFunction> {
 public:
  // All tensors are [batch, seq, d_head].
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& q,
                            const at::Tensor& k, const at::Tensor& v,
                            int64_t queries, int64_t keys) {
    const TileMath math(q);
    const int64_t seq = q.size(1);
    const at::Tensor output = at::empty(q.sizes(), q.options());
    const at::Tensor log_sum_exp =
        at::empty({q.size(0), seq, 1}, math.SumOptions(q));
    for (int64_t i = 0; i < seq; i += queries) {
      ComputeRows(math, q, k, v, Range(i, queries, seq), keys, output,
                  log_sum_exp);
    }
    ctx->save_for_backward({q, k, v, output, log_sum_exp});
    ctx->saved_data["queries"] = queries;
    ctx->saved_data["keys"] = keys;
    return output;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    RefuseSecondDerivative("attention");
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2],
                     &log_sum_exp = saved[4], &g = gradients[0];
    const TileMath math(q);
    const int64_t seq = q.size(1), queries = ctx->saved_data["queries"].toInt(),
                  key_tile = ctx->saved_data["keys"].toInt();
    const at::Tensor mean =
        Wide(g, math).mul_(saved[3]).sum(-1, /*keepdim=*/true);
    const at::Tensor q_gradient = at::zeros(q.sizes(), math.SumOptions(q));
    const at::Tensor k_gradient = at::empty(k.sizes(), k.options());
    const at::Tensor v_gradient = at::empty(v.sizes(), v.options());
    for (int64_t j = 0; j < seq; j += key_tile) {
      const Range keys(j, key_tile, seq);
      const at::Tensor kj = keys.Of(k), vj = keys.Of(v);
      const at::Tensor dk = at::zeros(kj.sizes(), math.SumOptions(k));
      const at::Tensor dv = at::zeros(vj.sizes(), math.SumOptions(v));
      for (int64_t i = 0; i < seq; i += queries) {
        const Range rows(i, queries, seq);
        if (math.IsHidden(rows, keys)) continue;
        const at::Tensor qi = rows.Of(q), gi = rows.Of(g);
        const at::Tensor weights =
            math.Scores(qi, kj, rows, keys).sub_(rows.Of(log_sum_exp)).exp_();
        dv.add_(math.Product(weights.transpose(1, 2), gi));
        const at::Tensor ds =
            math.ScoreGradient(weights, gi, vj, rows.Of(mean));
        rows.Of(q_gradient).add_(math.Product(ds, kj));
        dk.add_(math.Product(ds.transpose(1, 2), qi));
      }
      keys.Of(k_gradient).copy_(dk);
      keys.Of(v_gradient).copy_(dv);
    }
    return {q_gradient.to(q.scalar_type()), k_gradient, v_gradient, {}, {}};
  }

 private:
  // A copy in at least fp32.
  static at::Tensor Wide(const at::Tensor& x, const TileMath& math) {
    return x.to(math.SumOptions(x), /*non_blocking=*/false, /*copy=*/true);
  }

  // Online softmax (Milakov and Gimelshein 2018): when a tile of keys raises
  // the maximum of a row, the row's sum and output are rescaled.
  static void ComputeRows(const TileMath& math, const at::Tensor& q,
                          const at::Tensor& k, const at::Tensor& v,
                          const Range& rows, int64_t key_tile,
                          const at::Tensor& output,
                          const at::Tensor& log_sum_exp) {
    const at::Tensor qi = rows.Of(q);
    at::Tensor maximum =
        at::full({q.size(0), rows.size, 1}, kMinusInfinity, math.SumOptions(q));
    at::Tensor sum = at::zeros_like(maximum);
    const at::Tensor mixed = at::zeros(qi.sizes(), math.SumOptions(q));
    for (int64_t j = 0; j < q.size(1); j += key_tile) {
      const Range keys(j, key_tile, q.size(1));
      if (math.IsHidden(rows, keys)) break;
      const at::Tensor scores = math.Scores(qi, keys.Of(k), rows, keys);
      const at::Tensor before = maximum;
      maximum = at::maximum(before, scores.amax(-1, /*keepdim=*/true));
      const at::Tensor weights = scores.sub_(maximum).exp_();
      const at::Tensor factor = (before - maximum).exp_();
      sum = sum.mul_(factor).add_(weights.sum(-1, /*keepdim=*/true));
      mixed.mul_(factor).add_(math.Product(weights, keys.Of(v)));
    }
    rows.Of(output).copy_(mixed.div_(sum));
    rows.Of(log_sum_exp).copy_(sum.log_().add_(maximum));
  }
};

}  // namespace

at::Tensor TiledAttention(const at::Tensor& q, const at::Tensor& k,
                          const at::Tensor& v, const AttentionTiles& tiles) {
  TORCH_CHECK(tiles.queries >= 16 && tiles.keys >= 16, "tiles are ",
              tiles.queries, " x ", tiles.keys, "; allowed: at least 16");
  TORCH_CHECK(q.dim() >= 2 && q.sizes() == k.sizes() && q.sizes() == v.sizes(),
              "q, k and v are ", q.sizes(), ", ", k.sizes(), " and ", v.sizes(),
              "; allowed: the same [..., seq, d_head]");
  const auto flat = [](const at::Tensor& x) {
    return x.reshape({-1, x.size(-2), x.size(-1)});
  };
  const at::Tensor sequences[] = {flat(q), flat(k), flat(v)};
  const ProfiledOperator scope("trainbench::tiled_attention");
  return TiledAttentionFunction::apply(sequences[0], sequences[1], sequences[2],
                                       tiles.queries, tiles.keys)
      .view(q.sizes());
}

at::Tensor TiledAttention(const at::Tensor& q, const at::Tensor& k,
                          const at::Tensor& v) {
  // Longer tiles for longer sequences bound the number of operators.
  const int64_t tile = std::max<int64_t>(256, q.size(-2) / 64);
  const ComponentScope scope(Component::kFusedAttention);
  return TiledAttention(q, k, v, {.queries = tile, .keys = tile});
}

}  // namespace trainbench
