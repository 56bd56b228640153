// SPDX-License-Identifier: MIT
// Compares fused operations, on a CPU or a GPU, with their formulas in float64.

#ifndef TRAINBENCH_TESTS_MODEL_FUSED_COMPARISON_H_
#define TRAINBENCH_TESTS_MODEL_FUSED_COMPARISON_H_

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/fused/rms_norm.h"
#include "model/fused/rope.h"
#include "model/fused/softmax.h"
#include "model/fused/swiglu.h"
#include "model/nn/rope.h"
#include "model/verification/relative_error.h"
#include "tests/model/fused/formulas.h"

namespace trainbench {

inline constexpr at::ScalarType kFusedTypes[] = {at::kFloat, at::kBFloat16};

// The device of the operations. It copies tensors with their strides.
struct FusedDevice {
  at::Tensor (*to_device)(const at::Tensor& host);
  at::Tensor (*to_host)(const at::Tensor& tensor);
  // Allows results to be rounded a few times.
  double (*tolerance)(at::ScalarType dtype);
  // Compares only so many columns of the gradients; -1: all.
  int64_t known_columns = -1;
};

// An operation, which may overwrite its inputs.
struct FusedCase {
  std::string name;
  Operation fused;
  Operation formula;
  Tensors inputs;
  std::size_t left_out = 0;  // the first results, which have no gradient
};

inline FusedCase AddNormCase(at::ScalarType dtype, at::IntArrayRef sizes,
                             std::size_t left_out = 0) {
  return {.name = c10::str("norm of a sum ", sizes, " ", dtype),
          .fused = [](const Tensors& x) -> Tensors {
            const auto [sum, normed] = AddRmsNorm(x[0], x[1], x[2], 1e-5);
            return {sum, normed};
          },
          .formula = AddedNormFormula(dtype),
          .inputs = {at::randn(sizes).to(dtype), at::randn(sizes).to(dtype),
                     at::rand({sizes.back()}).add(0.5).to(dtype)},
          .left_out = left_out};
}

inline FusedCase NormCase(at::ScalarType dtype, at::IntArrayRef sizes,
                          std::size_t left_out = 0) {
  return {.name = c10::str("norm without an update ", sizes, " ", dtype),
          .fused = [](const Tensors& x) -> Tensors {
            const auto [sum, normed] = AddRmsNorm(x[0], {}, x[1], 1e-5);
            return {sum, normed};
          },
          .formula = [](const Tensors& x) -> Tensors {
            return {x[0] * 1, NormFormula(x[0], x[1])};
          },
          .inputs = {at::randn(sizes).to(dtype),
                     at::rand({sizes.back()}).add(0.5).to(dtype)},
          .left_out = left_out};
}

inline FusedCase SwigluCase(at::ScalarType dtype, at::IntArrayRef sizes) {
  return {.name = c10::str("SwiGLU ", sizes, " ", dtype),
          .fused = [](const Tensors& x) -> Tensors { return {Swiglu(x[0])}; },
          .formula = SwigluFormula,
          .inputs = {(at::randn(sizes) * 4).to(dtype)}};
}

inline FusedCase SoftmaxCase(at::ScalarType dtype, at::IntArrayRef sizes) {
  constexpr double kScale = 0.37;
  return {.name = c10::str("softmax ", sizes, " ", dtype),
          .fused = [](const Tensors& x) -> Tensors {
            return {CausalSoftmax(x[0], kScale)};
          },
          .formula = [](const Tensors& x) -> Tensors {
            return {CausalSoftmaxFormula(x[0], kScale)};
          },
          .inputs = {(at::randn(sizes) * 4).to(dtype)}};
}

inline FusedCase RopeCase(at::ScalarType dtype, int64_t heads, int64_t kv_heads,
                          int64_t d_head) {
  constexpr int64_t kSeq = 6;
  return {.name = c10::str("rotation of ", heads, " and ", kv_heads,
                           " heads, d_head ", d_head, " ", dtype),
          .fused = [=](const Tensors& x) -> Tensors {
            const auto [cos, sin] = Rope(d_head).Tables(kSeq, at::kFloat);
            const Heads turned =
                SplitAndRotate(x[0], heads, kv_heads, cos.to(x[0].device()),
                               sin.to(x[0].device()));
            return {turned.q, turned.k, turned.v};
          },
          .formula = RopeFormula(heads, kv_heads, d_head),
          .inputs = {
              at::randn({2, kSeq, (heads + 2 * kv_heads) * d_head}).to(dtype)}};
}

// Compares the results and, for random gradients of these, the gradients of the
// inputs.
inline void ExpectFormula(const FusedDevice& device, const FusedCase& c) {
  SCOPED_TRACE(c.name);
  const auto expect_near = [&](const at::Tensor& actual,
                               const at::Tensor& expected, const char* kind,
                               std::size_t i) {
    EXPECT_EQ(actual.sizes(), expected.sizes()) << kind << " " << i;
    EXPECT_LE(RelativeError(device.to_host(actual), expected),
              device.tolerance(actual.scalar_type()))
        << kind << " " << i;
  };
  Tensors inputs, wide;
  for (const at::Tensor& x : c.inputs) {
    inputs.push_back(device.to_device(x).requires_grad_());
    wide.push_back(x.to(at::kDouble).requires_grad_());
  }
  const Tensors actual = c.fused(inputs), expected = c.formula(wide);
  ASSERT_EQ(actual.size(), expected.size());
  Tensors read, read_wide, gradients, gradients_wide;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    expect_near(actual[i], expected[i], "result", i);
    if (i < c.left_out) continue;
    // Exact in bf16, and so in all dtypes.
    const at::Tensor random = at::randn(expected[i].sizes()).to(at::kBFloat16);
    read.push_back(actual[i]);
    gradients.push_back(device.to_device(random.to(actual[i].scalar_type())));
    read_wide.push_back(expected[i]);
    gradients_wide.push_back(random.to(at::kDouble));
  }
  const Tensors found = torch::autograd::grad(read, inputs, gradients);
  const Tensors exact = torch::autograd::grad(read_wide, wide, gradients_wide);
  const auto known = [&](const at::Tensor& x) {
    return device.known_columns < 0 ? x : x.narrow(-1, 0, device.known_columns);
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].scalar_type(), c.inputs[i].scalar_type());
    expect_near(known(found[i]), known(exact[i]), "gradient", i);
  }
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_MODEL_FUSED_COMPARISON_H_
