// SPDX-License-Identifier: MIT

#include "model/kernels/swiglu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "model/kernels/swiglu.cuh"
#include "tests/model/kernels/tensors.h"

namespace trainbench::kernels {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Shape {
  int64_t rows;
  int64_t columns;
  int64_t gap;  // between the rows of the two halves
  int misalign;
};

// Gate and up are halves of one tensor.
template <class T>
void Check(Tensors& t, const Shape& shape) {
  const int64_t stride = 2 * shape.columns + shape.gap;
  const int64_t count = shape.rows * shape.columns;
  T* both = t.InPlace<T>(shape.rows * stride, 3);
  const T* grad_y = t.Input<T>(count);
  T* y = t.Output<T>(count);
  std::vector<double> expected(count);
  std::vector<double> before = Doubles(both, shape.rows * stride);
  std::vector<double> after = before;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = i / shape.columns * stride + i % shape.columns;
    const double gate = before[at];
    const double up = before[at + shape.columns];
    const double s = Sigmoid(gate);
    expected[i] = gate * s * up;
    after[at] = ToFloat(grad_y[i]) * up * s * (1 + gate * (1 - s));
    after[at + shape.columns] = ToFloat(grad_y[i]) * gate * s;
  }
  T* up = both + shape.columns;
  ASSERT_EQ(SwigluForward(t.launcher(), {kDtypeOf<T>, shape.rows, shape.columns,
                                         stride, both, up, y}),
            "");
  EXPECT_LT(RelativeError(y, expected), kTolerance<T>);
  ASSERT_EQ(
      SwigluBackward(t.launcher(), {kDtypeOf<T>, shape.rows, shape.columns,
                                    stride, both, up, grad_y, both, up}),
      "");
  EXPECT_LT(RelativeError(both, after), kTolerance<T>);
}

std::vector<Shape> Shapes() {
  std::vector<Shape> shapes = {Shape{3, 64, 0, 0}, Shape{2, 2056, 16, 0},
                               Shape{4, 7, 3, 0}, Shape{2, 48, 0, 1},
                               Shape{3, 260, 1, 0}};
  Tensors dice(99);
  for (int i = 0; i < 6; ++i) {
    shapes.push_back({dice.Between(1, 9), dice.Between(1, 900),
                      dice.Between(0, 16),
                      static_cast<int>(dice.Between(0, 1))});
  }
  return shapes;
}

TEST(SwigluKernels, AreRightInBothTypes) {
  uint32_t seed = 1;
  for (const Shape& shape : Shapes()) {
    SCOPED_TRACE(testing::Message()
                 << shape.rows << " x " << shape.columns << " + " << shape.gap
                 << " misaligned by " << shape.misalign);
    Tensors t(seed++, shape.misalign);
    Check<float>(t, shape);
    Check<Bf16>(t, shape);
  }
}

TEST(SwigluKernels, BearLargeGates) {
  Tensors t(1);
  float* gate = t.InPlace<float>(4);
  const float values[] = {-1000, -90, 90, 1000};
  std::copy(values, values + 4, gate);
  float* y = t.Output<float>(4);
  ASSERT_EQ(
      SwigluForward(t.launcher(), {Dtype::kFloat32, 1, 4, 4, gate, gate, y}),
      "");
  EXPECT_EQ(y[0], 0);
  EXPECT_NEAR(y[1], 0, 1e-30);
  EXPECT_EQ(y[2], 90.0f * 90);
  EXPECT_EQ(y[3], 1e6f);
}

TEST(SwigluKernels, RefuseNoRows) {
  Tensors t(1);
  SwigluForwardArgs a{};
  a.columns = 8;
  EXPECT_EQ(SwigluForward(t.launcher(), a),
            "rows and columns must be in [1, 2^31)");
}

}  // namespace
}  // namespace trainbench::kernels
