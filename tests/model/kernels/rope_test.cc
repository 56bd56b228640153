// SPDX-License-Identifier: MIT

#include "model/kernels/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "model/kernels/rope.cuh"
#include "tests/model/kernels/tensors.h"

namespace trainbench::kernels {
namespace {

struct Shape {
  int64_t batch;
  int64_t heads;
  int64_t seq;
  int64_t d_head;
};

// Queries, keys and values of a token are adjacent: [batch, seq, 3, heads, d].
template <class T>
void Check(Tensors& t, const Shape& s, bool backward) {
  const int64_t width = s.heads * s.d_head;
  const int64_t count = s.batch * s.seq * 3 * width;
  float* cos = t.InPlace<float>(s.seq * s.d_head / 2);
  float* sin = t.InPlace<float>(s.seq * s.d_head / 2);
  for (int64_t i = 0; i < s.seq * s.d_head / 2; ++i) {
    const double angle = static_cast<double>(t.Between(0, 1000)) / 100;
    cos[i] = static_cast<float>(std::cos(angle));
    sin[i] = static_cast<float>(std::sin(angle));
  }
  T* qkv = t.InPlace<T>(count);
  std::vector<double> expected = Doubles(qkv, count);
  for (int64_t token = 0; token < s.batch * s.seq; ++token) {
    for (int64_t i = 0; i < 2 * width; i += 2) {
      const int64_t angle = token % s.seq * (s.d_head / 2) + i % s.d_head / 2;
      double* pair = &expected[token * 3 * width + i];
      const double turn = (backward ? -1 : 1) * double{sin[angle]};
      const double even = pair[0] * cos[angle] - pair[1] * turn;
      pair[1] = pair[0] * turn + pair[1] * cos[angle];
      pair[0] = even;
    }
  }
  const HeadStrides strides{s.seq * 3 * width, s.d_head, 3 * width};
  ASSERT_EQ(RopeTurn(t.launcher(),
                     {kDtypeOf<T>, s.batch, 2 * s.heads, s.seq, s.d_head,
                      backward, cos, sin, qkv, qkv, strides, strides}),
            "");
  EXPECT_LT(RelativeError(qkv, expected), kTolerance<T>);
}

std::vector<Shape> Shapes() {
  std::vector<Shape> shapes = {Shape{2, 3, 5, 16}, Shape{1, 2, 3, 64},
                               Shape{2, 1, 4, 6}, Shape{1, 12, 2, 128}};
  Tensors dice(99);
  for (int i = 0; i < 6; ++i) {
    shapes.push_back({dice.Between(1, 3), dice.Between(1, 5),
                      dice.Between(1, 9), 2 * dice.Between(1, 40)});
  }
  return shapes;
}

TEST(RopeKernel, IsRightInBothTypesAndDirections) {
  uint32_t seed = 1;
  for (const Shape& shape : Shapes()) {
    SCOPED_TRACE(testing::Message() << shape.heads << " x " << shape.d_head);
    Tensors t(seed++);
    for (const bool backward : {false, true}) {
      Check<float>(t, shape, backward);
      Check<Bf16>(t, shape, backward);
    }
  }
}

TEST(RopeKernel, WritesAnotherLayout) {
  Tensors t(1);
  // From [batch 1, seq 2, heads 3, d 4] to [batch 1, heads 3, seq 2, d 4],
  // without a rotation.
  const float* from = t.Input<float>(24);
  float* to = t.Output<float>(24);
  float* cos = t.InPlace<float>(4);
  float* sin = t.InPlace<float>(4);
  for (int i = 0; i < 4; ++i) {
    cos[i] = 1;
    sin[i] = 0;
  }
  const RopeArgs a{Dtype::kFloat32, 1,         3,   2,    4,
                   false,           cos,       sin, from, to,
                   {24, 4, 12},     {24, 8, 4}};
  ASSERT_EQ(RopeTurn(t.launcher(), a), "");
  for (int i = 0; i < 24; ++i) {
    const int token = i / 12;
    const int head = i / 4 % 3;
    EXPECT_EQ(to[head * 8 + token * 4 + i % 4], from[i]);
  }
}

TEST(RopeKernel, RefusesAnOddHead) {
  Tensors t(1);
  RopeArgs a{};
  a.d_head = 3;
  EXPECT_EQ(RopeTurn(t.launcher(), a), "d_head must be even");
}

}  // namespace
}  // namespace trainbench::kernels
