// SPDX-License-Identifier: MIT

#include "model/kernels/rms_norm.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "model/kernels/rms_norm.cuh"
#include "tests/emulator/faulty_device.h"
#include "tests/model/kernels/tensors.h"
#include "tests/support/matchers.h"

namespace trainbench::kernels {
namespace {

constexpr float kEpsilon = 1e-5f;

template <class S, class B>
void CheckForward(Tensors& t, const MatrixShape& shape, bool update) {
  const int64_t count = shape.rows * shape.columns;
  const S* x = t.Input<S>(count, 2);
  const B* added = update ? t.Input<B>(count) : nullptr;
  const S* weight = t.Input<S>(shape.columns);
  S* sum = update ? t.Output<S>(count) : nullptr;
  B* y = t.Output<B>(count);
  float* inverse = t.Output<float>(shape.rows);
  ASSERT_EQ(RmsNormForward(t.launcher(),
                           {kDtypeOf<S>, kDtypeOf<B>, shape.rows, shape.columns,
                            kEpsilon, x, added, weight, sum, y, inverse}),
            "");
  std::vector<double> sums(count);
  std::vector<double> expected(count);
  std::vector<double> inverses(shape.rows);
  for (int64_t r = 0; r < shape.rows; ++r) {
    double squares = 0;
    for (int64_t i = r * shape.columns; i < (r + 1) * shape.columns; ++i) {
      S rounded = x[i];
      if (update) Set(rounded, double{ToFloat(x[i])} + ToFloat(added[i]));
      sums[i] = ToFloat(rounded);
      squares += sums[i] * sums[i];
    }
    inverses[r] =
        1 / std::sqrt(squares / static_cast<double>(shape.columns) + kEpsilon);
    for (int64_t c = 0; c < shape.columns; ++c) {
      const int64_t i = r * shape.columns + c;
      expected[i] = ToFloat(weight[c]) * sums[i] * inverses[r];
    }
  }
  if (update) {
    EXPECT_LT(RelativeError(sum, sums), 1e-7);
  }
  EXPECT_LT(RelativeError(inverse, inverses), 1e-6);
  EXPECT_LT(RelativeError(y, expected), kTolerance<B>);
}

template <class S, class B>
void CheckBackward(Tensors& t, const MatrixShape& shape, bool later) {
  const int64_t count = shape.rows * shape.columns;
  const auto n = static_cast<double>(shape.columns);
  const S* sum = t.Input<S>(count, 2);
  const S* weight = t.Input<S>(shape.columns);
  float* inverse = t.InPlace<float>(shape.rows);
  const B* grad_y = t.Input<B>(count);
  const S* grad_sum = later ? t.Input<S>(count) : nullptr;
  S* grad_x = t.Output<S>(count);
  B* grad_update = kDtypeOf<S> == kDtypeOf<B> ? nullptr : t.Output<B>(count);
  S* grad_weight = t.Output<S>(shape.columns);
  float* partial = t.Output<float>(RmsNormPartials(shape.rows) * shape.columns);
  std::vector<double> expected(count);
  std::vector<double> expected_weight(shape.columns);
  for (int64_t r = 0; r < shape.rows; ++r) {
    double squares = 0;
    double product = 0;
    for (int64_t c = 0; c < shape.columns; ++c) {
      const double s = ToFloat(sum[r * shape.columns + c]);
      squares += s * s;
      product +=
          s * ToFloat(weight[c]) * ToFloat(grad_y[r * shape.columns + c]);
    }
    inverse[r] = static_cast<float>(1 / std::sqrt(squares / n + kEpsilon));
    for (int64_t c = 0; c < shape.columns; ++c) {
      const int64_t i = r * shape.columns + c;
      const double normed = ToFloat(sum[i]) * double{inverse[r]};
      expected[i] =
          (later ? ToFloat(grad_sum[i]) : 0) +
          inverse[r] * (double{ToFloat(weight[c])} * ToFloat(grad_y[i]) -
                        normed * product * inverse[r] / n);
      expected_weight[c] += ToFloat(grad_y[i]) * normed;
    }
  }
  ASSERT_EQ(RmsNormBackward(t.launcher(), {kDtypeOf<S>, kDtypeOf<B>, shape.rows,
                                           shape.columns, sum, weight, inverse,
                                           grad_y, grad_sum, grad_x,
                                           grad_update, grad_weight, partial}),
            "");
  EXPECT_LT(RelativeError(grad_x, expected), kTolerance<S>);
  if (grad_update) {
    EXPECT_LT(RelativeError(grad_update, expected), kTolerance<B>);
  }
  EXPECT_LT(RelativeError(grad_weight, expected_weight), kTolerance<S>);
}

template <class S, class B>
void CheckAll() {
  uint32_t seed = 1;
  // 600 rows are more than there are partial sums.
  const std::vector<MatrixShape> shapes = {{3, 8},    {2, 768},   {5, 7},
                                           {2, 1601}, {2, 64, 1}, {1, 2560},
                                           {1, 8192}, {600, 16}};
  for (const MatrixShape& shape : WithRandomShapes(shapes)) {
    SCOPED_TRACE(testing::Message() << shape);
    Tensors t(seed++, shape.misalign);
    for (const bool of_sum : {false, true}) {
      CheckForward<S, B>(t, shape, of_sum);
      CheckBackward<S, B>(t, shape, of_sum);
    }
  }
}

TEST(RmsNormKernels, AreRightInFp32) { CheckAll<float, float>(); }
TEST(RmsNormKernels, AreRightInBf16) { CheckAll<Bf16, Bf16>(); }
TEST(RmsNormKernels, AreRightUnderAutocast) { CheckAll<float, Bf16>(); }

// Without it a warp would sum values that the others have not written yet.
TEST(RmsNormKernels, NeedTheBarrierOfAReduction) {
  Tensors t(1);
  const float* x = t.Input<float>(512);
  float* y = t.Output<float>(512);
  float* inverse = t.Output<float>(1);
  emulator::BasicLauncher<emulator::FaultyDevice> launcher(
      &t.memory(), 1, {emulator::Fault::kSkippedBarrier, 0});
  EXPECT_THAT(
      RmsNormForward(launcher, {Dtype::kFloat32, Dtype::kFloat32, 1, 512,
                                kEpsilon, x, nullptr, x, nullptr, y, inverse}),
      HasSubstr("another thread"));
}

TEST(RmsNormKernels, RefuseWhatTheyCannotDo) {
  Tensors t(1);
  RmsNormForwardArgs a{};
  a.rows = 1;
  a.columns = 8193;
  EXPECT_EQ(RmsNormForward(t.launcher(), a), "columns must be in [1, 8192]");
  a.columns = 8;
  a.rows = 0;
  EXPECT_EQ(RmsNormForward(t.launcher(), a), "rows must be in [1, 2^31)");
  a.rows = 1;
  a.stream = Dtype::kBfloat16;
  EXPECT_EQ(RmsNormForward(t.launcher(), a),
            "a stream in bf16 has branches in bf16");
}

}  // namespace
}  // namespace trainbench::kernels
