// SPDX-License-Identifier: MIT

#include "model/nn/rope.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <cstdint>

#include "tests/support/tensors.h"

namespace trainbench {
namespace {

// Channels 2i and 2i + 1 as one complex number, times exp(i t theta^(-2i/d)).
at::Tensor RotateComplex(const at::Tensor& x, double theta) {
  const int64_t seq = x.size(-2), d_head = x.size(-1);
  const at::Tensor pairs =
      at::view_as_complex(x.contiguous().unflatten(-1, {d_head / 2, 2}));
  at::Tensor angle = at::empty({seq, d_head / 2}, at::kDouble);
  auto value = angle.accessor<double, 2>();
  for (int64_t t = 0; t < seq; ++t) {
    for (int64_t i = 0; i < d_head / 2; ++i) {
      value[t][i] = static_cast<double>(t) *
                    std::pow(theta, -2.0 * static_cast<double>(i) /
                                        static_cast<double>(d_head));
    }
  }
  const at::Tensor turn = at::polar(at::ones_like(angle), angle);
  return at::view_as_real(pairs * turn).flatten(-2);
}

TEST(RopeTest, IsMultiplicationOfPairsByUnitComplexNumbers) {
  at::manual_seed(1);
  const at::Tensor x = at::randn({2, 3, 19, 10}, at::kDouble);
  Rope rope(10), other(10, 100.0);
  EXPECT_LE(MaxError(rope.Rotate(x), RotateComplex(x, 10000.0)), 1e-13);
  EXPECT_LE(MaxError(other.Rotate(x), RotateComplex(x, 100.0)), 1e-13);
}

TEST(RopeTest, TheFirstPairTurnsByOneRadianPerPosition) {
  const at::Tensor x = at::tensor({1.0, 0.0, 1.0, 0.0, 1.0, 0.0}).view({3, 2});
  const at::Tensor y = Rope(2).Rotate(x);
  for (int t = 0; t < 3; ++t) {
    EXPECT_NEAR(y[t][0].item<double>(), std::cos(t), 1e-15);
    EXPECT_NEAR(y[t][1].item<double>(), std::sin(t), 1e-15);
  }
}

TEST(RopeTest, PositionZeroIsUnchanged) {
  at::manual_seed(2);
  const at::Tensor x = at::randn({2, 1, 6});
  EXPECT_TRUE(Rope(6).Rotate(x).equal(x));
}

TEST(RopeTest, ScoresDependOnTheRelativePositionOnly) {
  at::manual_seed(3);
  const int64_t seq = 40;
  Rope rope(8);
  // All positions have the same vector: row t is that vector rotated for t.
  const at::Tensor q =
      rope.Rotate(at::randn({8}, at::kDouble).expand({seq, 8}));
  const at::Tensor k =
      rope.Rotate(at::randn({8}, at::kDouble).expand({seq, 8}));
  const at::Tensor scores = at::mm(q, k.t());
  for (int64_t offset = -30; offset <= 30; offset += 5) {
    const at::Tensor diagonal = scores.diagonal(offset);
    EXPECT_LE(MaxError(diagonal, diagonal[0].expand_as(diagonal)), 1e-13)
        << offset;
  }
  // They do depend on the relative position.
  EXPECT_GT(MaxError(scores[0][0], scores[0][1]), 1e-3);
}

TEST(RopeTest, KeepsTheNormOfEachPair) {
  at::manual_seed(4);
  const at::Tensor x = at::randn({3, 50, 12}, at::kDouble);
  const auto norms = [](const at::Tensor& v) {
    return v.unflatten(-1, {6, 2}).norm(2, -1);
  };
  EXPECT_LE(MaxError(norms(Rope(12).Rotate(x)), norms(x)), 1e-14);
}

TEST(RopeTest, TablesGrowAndStayRight) {
  at::manual_seed(5);
  const at::Tensor x = at::randn({2, 64, 6}, at::kDouble);
  const at::Tensor expected = RotateComplex(x, Rope::kTheta);
  Rope rope(6);
  for (const int64_t seq : {3, 64, 1, 17, 64, 63}) {
    EXPECT_LE(
        MaxError(rope.Rotate(x.narrow(1, 0, seq)), expected.narrow(1, 0, seq)),
        1e-13)
        << seq;
  }
}

TEST(RopeTest, TablesFollowAChangeOfType) {
  at::manual_seed(6);
  const at::Tensor x = at::randn({2, 5, 6}, at::kDouble);
  const at::Tensor expected = RotateComplex(x, Rope::kTheta);
  Rope rope(6);
  const at::Tensor narrow = rope.Rotate(x.to(at::kFloat));
  EXPECT_EQ(narrow.scalar_type(), at::kFloat);
  EXPECT_LE(MaxError(narrow, expected), 1e-6);
  // Tables in fp32 would cause errors of 1e-8.
  EXPECT_LE(MaxError(rope.Rotate(x), expected), 1e-13);
}

TEST(RopeTest, AnglesKeepTheirBitsAtLongContext) {
  const int64_t seq = 20'000;
  const at::Tensor x = at::ones({seq, 64});
  const at::Tensor expected = RotateComplex(x.to(at::kDouble), Rope::kTheta);
  // In fp32 an angle of 2e4 is accurate to 1e-3 only.
  EXPECT_LE(MaxError(Rope(64).Rotate(x), expected), 5e-7);
}

TEST(RopeTest, Bf16IsComputedInFp32AndReturnedInBf16) {
  at::manual_seed(7);
  const at::Tensor x = at::randn({2, 3, 25, 16}).to(at::kBFloat16);
  const at::Tensor y = Rope(16).Rotate(x);
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  // Only the end result is rounded, so the results are equal bit by bit.
  EXPECT_TRUE(y.equal(Rope(16).Rotate(x.to(at::kFloat)).to(at::kBFloat16)));
}

TEST(RopeTest, OutputIsContiguousWhateverTheInput) {
  at::manual_seed(8);
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const at::Tensor x = at::randn({2, 7, 3, 8}).to(dtype).transpose(1, 2);
    ASSERT_FALSE(x.is_contiguous());
    const at::Tensor y = Rope(8).Rotate(x);
    EXPECT_TRUE(y.is_contiguous());
    EXPECT_TRUE(y.equal(Rope(8).Rotate(x.contiguous())));
  }
}

TEST(RopeTest, TheGradientTurnsBack) {
  at::manual_seed(9);
  at::Tensor x = at::randn({11, 6}, at::kDouble).requires_grad_(true);
  Rope rope(6);
  const at::Tensor y = rope.Rotate(x);
  // A rotation is orthogonal: the gradient of |y|^2 / 2 is x itself.
  (y * y).sum().div(2).backward();
  EXPECT_LE(MaxError(x.grad(), x.detach()), 1e-14);
}

}  // namespace
}  // namespace trainbench
