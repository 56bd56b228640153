// SPDX-License-Identifier: MIT

#include "model/nn/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/nn/attention/naive.h"
#include "model/nn/attention/variants.h"
#include "model/nn/transformer_lm.h"
#include "tests/support/tensors.h"

namespace trainbench {
namespace {

constexpr AttentionKind kKinds[] = {AttentionKind::kNaive,
                                    AttentionKind::kSdpa};

struct AttentionShape {
  int64_t batch, heads, seq, d_head;
};
constexpr AttentionShape kAttentionShapes[] = {
    {1, 1, 1, 2}, {2, 3, 5, 6}, {1, 2, 17, 10}, {3, 1, 33, 64}, {2, 2, 70, 8}};

at::Tensor Random(const AttentionShape& s, at::ScalarType dtype) {
  return at::randn({s.batch, s.heads, s.seq, s.d_head}, dtype)
      .requires_grad_(true);
}

// Returns the output and the gradients of q, k, v for a random weighting.
std::vector<at::Tensor> GradientsOfQkv(
    at::Tensor (*attention)(const at::Tensor&, const at::Tensor&,
                            const at::Tensor&),
    const std::vector<at::Tensor>& qkv, const at::Tensor& weights) {
  const at::Tensor out = attention(qkv[0], qkv[1], qkv[2]);
  std::vector<at::Tensor> results = {out.detach()};
  (out * weights).sum().backward();
  for (const at::Tensor& x : qkv) {
    results.push_back(x.grad());
    x.mutable_grad().reset();
  }
  return results;
}

TEST(AttentionTest, NaiveEqualsSdpaInOutputAndGradients) {
  at::manual_seed(1);
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    // Values are of order 1, in sums of up to 70 terms.
    const double tolerance = dtype == at::kDouble ? 1e-13 : 1e-5;
    for (const AttentionShape& shape : kAttentionShapes) {
      const std::vector<at::Tensor> qkv = {
          Random(shape, dtype), Random(shape, dtype), Random(shape, dtype)};
      const at::Tensor weights = at::randn_like(qkv[0]).detach();
      const auto naive = GradientsOfQkv(NaiveAttention, qkv, weights);
      const auto sdpa = GradientsOfQkv(SdpaAttention, qkv, weights);
      for (std::size_t i = 0; i < naive.size(); ++i) {
        EXPECT_LE(MaxError(naive[i], sdpa[i]), tolerance)
            << dtype << " seq " << shape.seq << " tensor " << i;
      }
    }
  }
}

TEST(AttentionTest, EqualsTheFormulaRowByRow) {
  at::manual_seed(2);
  const at::NoGradGuard no_grad;
  const at::Tensor q = at::randn({7, 6}, at::kDouble);
  const at::Tensor k = at::randn({7, 6}, at::kDouble);
  const at::Tensor v = at::randn({7, 6}, at::kDouble);
  for (auto* attention : {NaiveAttention, SdpaAttention}) {
    const at::Tensor out = attention(q.view({1, 1, 7, 6}), k.view({1, 1, 7, 6}),
                                     v.view({1, 1, 7, 6}))
                               .view({7, 6});
    for (int64_t t = 0; t < 7; ++t) {
      const at::Tensor scores =
          at::mv(k.narrow(0, 0, t + 1), q[t]) / std::sqrt(6.0);
      const at::Tensor weights = scores.exp() / scores.exp().sum();
      const at::Tensor expected = at::mv(v.narrow(0, 0, t + 1).t(), weights);
      EXPECT_LE(MaxError(out[t], expected), 1e-13) << t;
    }
  }
}

TransformerLm MakeModel(AttentionKind kind) {
  return TransformerLm(ModelConfig{"m", 24, 40, 2, 3, 37, kind},
                       at::TensorOptions().dtype(at::kFloat));
}

TEST(CausalityTest, ATokenChangesNothingBeforeItAndEverythingFromIt) {
  for (const AttentionKind kind : kKinds) {
    at::manual_seed(4);
    const at::NoGradGuard no_grad;
    TransformerLm model = MakeModel(kind);
    const int64_t seq = 13;
    const at::Tensor tokens = at::randint(37, {2, seq}, at::kLong);
    const at::Tensor logits = model(tokens);
    for (const int64_t t : {int64_t{0}, int64_t{1}, int64_t{6}, seq - 1}) {
      at::Tensor changed = tokens.clone();
      changed.select(1, t).add_(1).remainder_(37);
      const at::Tensor other = model(changed);
      EXPECT_TRUE(other.narrow(1, 0, t).equal(logits.narrow(1, 0, t)))
          << AttentionName(kind) << " " << t;
      const at::Tensor moved = (other != logits).any(-1);
      EXPECT_TRUE(moved.narrow(1, t, seq - t).all().item<bool>())
          << AttentionName(kind) << " " << t;
    }
  }
}

TEST(BatchTest, ARowDoesNotDependOnTheOthers) {
  for (const AttentionKind kind : kKinds) {
    at::manual_seed(6);
    const at::NoGradGuard no_grad;
    TransformerLm model = MakeModel(kind);
    const at::Tensor tokens = at::randint(37, {3, 8}, at::kLong);
    const at::Tensor logits = model(tokens);
    at::Tensor changed = tokens.clone();
    changed[1].add_(1).remainder_(37);
    const at::Tensor other = model(changed);
    EXPECT_TRUE(other[0].equal(logits[0])) << AttentionName(kind);
    EXPECT_FALSE(other[1].equal(logits[1])) << AttentionName(kind);
    EXPECT_TRUE(other[2].equal(logits[2])) << AttentionName(kind);
    EXPECT_LE(MaxError(model(tokens.narrow(0, 2, 1)).squeeze(0), logits[2]),
              1e-5)
        << AttentionName(kind);
  }
}

TEST(NaiveSoftmaxTest, EqualsSoftmaxAndRowsSumToOne) {
  at::manual_seed(7);
  const at::Tensor x = at::randn({3, 5, 41}, at::kDouble) * 10;
  EXPECT_LE(MaxError(NaiveSoftmax(x), at::softmax(x, -1)), 1e-15);
  const at::Tensor narrow = x.to(at::kFloat);
  EXPECT_LE(MaxError(NaiveSoftmax(narrow), at::softmax(narrow, -1)), 3e-7);
  EXPECT_LE(MaxError(NaiveSoftmax(narrow).sum(-1), at::ones({3, 5})), 1e-6);
}

TEST(NaiveSoftmaxTest, LargeAndMaskedValuesDoNotOverflow) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const at::Tensor x = at::tensor({3e38F, 3e38F, -3e38F, -kInfinity,  //
                                   -1e4F, -1e4F, -1e4F, -1e4F,        //
                                   1e4F, 1e4F - 1, -kInfinity, 0.0F})
                           .view({3, 4});
  const double e = std::exp(1.0);
  const at::Tensor expected =
      at::tensor({0.5, 0.5, 0.0, 0.0, 0.25, 0.25, 0.25, 0.25, e / (e + 1),
                  1 / (e + 1), 0.0, 0.0})
          .view({3, 4});
  EXPECT_LE(MaxError(NaiveSoftmax(x), expected), 1e-6);
}

TEST(NaiveSoftmaxTest, WidensBf16AndKeepsTheWiderTypes) {
  at::manual_seed(8);
  const at::Tensor x = at::randn({4, 300}).to(at::kBFloat16);
  const at::Tensor y = NaiveSoftmax(x);
  EXPECT_EQ(y.scalar_type(), at::kFloat);
  // Sums in bf16 would have errors of several percent.
  EXPECT_LE(MaxError(y, at::softmax(x.to(at::kFloat), -1)), 1e-7);
  EXPECT_EQ(NaiveSoftmax(x.to(at::kFloat)).scalar_type(), at::kFloat);
  EXPECT_EQ(NaiveSoftmax(x.to(at::kDouble)).scalar_type(), at::kDouble);
}

}  // namespace
}  // namespace trainbench
