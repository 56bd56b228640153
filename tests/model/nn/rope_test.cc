// SPDX-License-Identifier: MIT

#include "model/nn/rope.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <cstdint>

#include "tests/support/tensors.h"

namespace trainbench {
namespace {

// Channels 2i and 2i + 1 as one complex number, times exp(i t 10000^(-2i/d)).
at::Tensor RotateComplex(const at::Tensor& x) {
  const int64_t seq = x.size(-2), d_head = x.size(-1);
  const at::Tensor pairs =
      at::view_as_complex(x.contiguous().unflatten(-1, {d_head / 2, 2}));
  at::Tensor angle = at::empty({seq, d_head / 2}, at::kDouble);
  auto value = angle.accessor<double, 2>();
  for (int64_t t = 0; t < seq; ++t) {
    for (int64_t i = 0; i < d_head / 2; ++i) {
      value[t][i] = static_cast<double>(t) *
                    std::pow(10000.0, -2.0 * static_cast<double>(i) /
                                          static_cast<double>(d_head));
    }
  }
  const at::Tensor turn = at::polar(at::ones_like(angle), angle);
  return at::view_as_real(pairs * turn).flatten(-2);
}

TEST(RopeTest, TurnsPairsLikeComplexNumbersWhileItsTablesGrow) {
  at::manual_seed(5);
  const at::Tensor x = at::randn({2, 64, 6}, at::kDouble);
  const at::Tensor expected = RotateComplex(x);
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
  const at::Tensor expected = RotateComplex(x);
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
  const at::Tensor expected = RotateComplex(x.to(at::kDouble));
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

}  // namespace
}  // namespace trainbench
