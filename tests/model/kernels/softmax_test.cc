// SPDX-License-Identifier: MIT

#include "model/kernels/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "model/kernels/softmax.cuh"
#include "tests/model/kernels/tensors.h"

namespace trainbench::kernels {
namespace {

constexpr float kScale = 0.25f;

struct Shape {
  int64_t matrices;
  int64_t seq;
  bool in_place;
};

std::vector<double> Softmax(const std::vector<double>& x, const Shape& s) {
  std::vector<double> p(x.size(), 0);
  for (int64_t row = 0; row < s.matrices * s.seq; ++row) {
    const auto begin = x.begin() + row * s.seq;
    const int64_t seen = row % s.seq + 1;
    const double top = *std::max_element(begin, begin + seen);
    double sum = 0;
    for (int64_t i = 0; i < seen; ++i)
      sum += std::exp(kScale * (begin[i] - top));
    for (int64_t i = 0; i < seen; ++i) {
      p[row * s.seq + i] = std::exp(kScale * (begin[i] - top)) / sum;
    }
  }
  return p;
}

template <class T>
void Check(Tensors& t, const Shape& s) {
  const int64_t count = s.matrices * s.seq * s.seq;
  T* x = t.InPlace<T>(count, 8);
  T* p = s.in_place ? x : t.Output<T>(count);
  std::vector<double> expected = Softmax(Doubles(x, count), s);
  ASSERT_EQ(SoftmaxForward(t.launcher(),
                           {kDtypeOf<T>, s.matrices, s.seq, kScale, x, p}),
            "");
  EXPECT_LT(RelativeError(p, expected), kTolerance<T>);

  T* grad_p = t.InPlace<T>(count);
  T* grad_x = s.in_place ? grad_p : t.Output<T>(count);
  for (int64_t row = 0; row < s.matrices * s.seq; ++row) {
    double sum = 0;
    for (int64_t i = row * s.seq; i < (row + 1) * s.seq; ++i) {
      sum += double{ToFloat(p[i])} * ToFloat(grad_p[i]);
    }
    for (int64_t i = row * s.seq; i < (row + 1) * s.seq; ++i) {
      expected[i] = double{kScale} * ToFloat(p[i]) * (ToFloat(grad_p[i]) - sum);
    }
  }
  ASSERT_EQ(SoftmaxBackward(t.launcher(), {kDtypeOf<T>, s.matrices, s.seq,
                                           kScale, p, grad_p, grad_x}),
            "");
  EXPECT_LT(RelativeError(grad_x, expected), kTolerance<T>);
}

// The longest rows are longer than a block's vectors.
std::vector<Shape> Shapes() {
  std::vector<Shape> shapes = {Shape{2, 16, false}, Shape{1, 33, true},
                               Shape{3, 7, true},   Shape{1, 65, false},
                               Shape{1, 1, false},  Shape{1, 130, true},
                               Shape{1, 600, true}};
  Tensors dice(99);
  for (int i = 0; i < 6; ++i) {
    shapes.push_back({dice.Between(1, 3), dice.Between(1, 90), dice.Coin()});
  }
  return shapes;
}

TEST(SoftmaxKernels, AreRightInBothTypes) {
  uint32_t seed = 1;
  for (const Shape& s : Shapes()) {
    SCOPED_TRACE(testing::Message() << s.matrices << " of " << s.seq);
    Tensors t(seed++);
    Check<float>(t, s);
    Check<Bf16>(t, s);
  }
}

TEST(SoftmaxKernels, BearScoresThatExpWouldNot) {
  Tensors t(1);
  float* x = t.InPlace<float>(4);
  x[0] = 4000;
  x[2] = 4000;
  x[3] = 4004;
  ASSERT_EQ(SoftmaxForward(t.launcher(), {Dtype::kFloat32, 1, 2, kScale, x, x}),
            "");
  EXPECT_EQ(x[0], 1);
  EXPECT_EQ(x[1], 0);
  EXPECT_NEAR(x[2], 1 / (1 + std::exp(1.0)), 1e-6);
}

TEST(SoftmaxKernels, RefuseWhatTheyCannotDo) {
  Tensors t(1);
  SoftmaxForwardArgs a{};
  EXPECT_EQ(SoftmaxForward(t.launcher(), a),
            "matrices times seq must be in [1, 2^31)");
  a.matrices = 1;
  a.seq = 8;
  a.x = a.p = t.InPlace<float>(65) + 1;
  EXPECT_EQ(SoftmaxForward(t.launcher(), a),
            "tensors must begin at a multiple of 16 bytes");
}

}  // namespace
}  // namespace trainbench::kernels
