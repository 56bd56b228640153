// SPDX-License-Identifier: MIT
// Compares fused operations, on a CPU or a GPU, with their formulas in float64.

#ifndef TRAINBENCH_TESTS_MODEL_FUSED_COMPARISON_H_
#define TRAINBENCH_TESTS_MODEL_FUSED_COMPARISON_H_

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/fused/cross_entropy.h"
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
  bool emulated = false;  // a null GPU, where LibTorch computes nothing
};

inline FusedDevice CpuWith(double (*tolerance)(at::ScalarType dtype)) {
  return {.to_device = [](const at::Tensor& x) { return x.clone(); },
          .to_host = [](const at::Tensor& x) { return x; },
          .tolerance = tolerance};
}

// An operation, which may overwrite its inputs.
struct FusedCase {
  std::string name;
  Operation fused;
  Operation formula = {};
  Tensors inputs;
  std::size_t left_out = 0;  // the first results, which have no gradient
  Tensors gradients = {};    // of the results; random if there are none
  // On a GPU, the columns of the inputs' gradient that LibTorch does not
  // compute; -1: all.
  int64_t own_columns = -1;
  // Whether on a GPU a kernel of LibTorch computes the results from ours.
  bool ends_in_libtorch = false;
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

// The mean over all rows.
inline FusedCase CrossEntropyCase(at::ScalarType dtype, at::IntArrayRef sizes) {
  const at::Tensor targets =
      at::randint(sizes.back(), sizes.slice(0, sizes.size() - 1), at::kLong);
  return {
      .name = c10::str("cross entropy ", sizes, " ", dtype),
      .fused = [=](const Tensors& x) -> Tensors {
        return {FusedCrossEntropy(x[0], targets.to(x[0].device()))};
      },
      .formula = [=](const Tensors& x) -> Tensors {
        return {at::cross_entropy_loss(x[0].flatten(0, -2), targets.flatten())};
      },
      .inputs = {(at::randn(sizes) * 4).to(dtype)},
      .ends_in_libtorch = true};
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
          .inputs =
              {at::randn({2, kSeq, (heads + 2 * kv_heads) * d_head}).to(dtype)},
          // The gradient of the values is copied.
          .own_columns = (heads + kv_heads) * d_head};
}

// The inputs begin one element past a multiple of 16 bytes.
inline FusedCase Misaligned(FusedCase c) {
  c.name += ", misaligned";
  for (at::Tensor& x : c.inputs) {
    const at::Tensor block = at::empty({x.numel() + 1}, x.options());
    x = block.narrow(0, 1, x.numel()).view(x.sizes()).copy_(x);
  }
  return c;
}

// Rows of one element, of whole vectors and of a rest, rows longer than a
// block's vectors, and more rows than a GPU's gradient of a norm's weight has
// partial sums.
inline std::vector<FusedCase> FormulaCases(at::ScalarType dtype) {
  std::vector<FusedCase> cases = {AddNormCase(dtype, {600, 264}),
                                  NormCase(dtype, {64, 33}),
                                  AddNormCase(dtype, {1, 8192}),
                                  NormCase(dtype, {2, 1601}),
                                  Misaligned(AddNormCase(dtype, {3, 64})),
                                  Misaligned(SwigluCase(dtype, {2, 96})),
                                  SwigluCase(dtype, {2, 2 * 2056}),
                                  SoftmaxCase(dtype, {1, 600, 600}),
                                  CrossEntropyCase(dtype, {2, 5027}),
                                  Misaligned(CrossEntropyCase(dtype, {9, 746})),
                                  Misaligned(CrossEntropyCase(dtype, {3, 50}))};
  for (const int64_t vocab : {1, 7, 41, 1000}) {
    cases.push_back(CrossEntropyCase(dtype, {3, 5, vocab}));
  }
  for (const std::size_t left_out : {0, 1}) {
    for (const int64_t dim : {2, 7, 16, 48, 83, 768}) {
      cases.push_back(AddNormCase(dtype, {3, 5, dim}, left_out));
    }
  }
  for (const int64_t d_ff : {1, 15, 64, 100, 1000}) {
    cases.push_back(SwigluCase(dtype, {2, 9, 2 * d_ff}));
  }
  for (const int64_t seq : {1, 5, 16, 50}) {
    cases.push_back(SoftmaxCase(dtype, {2, 3, seq, seq}));
  }
  for (const int64_t d_head : {2, 6, 8, 16, 40, 64}) {
    for (const int64_t kv_heads : {4, 2, 1}) {
      cases.push_back(RopeCase(dtype, /*heads=*/4, kv_heads, d_head));
    }
  }
  return cases;
}

using AttentionFunction = std::function<at::Tensor(
    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v)>;

// The tensors are q, k, v and, unless it is random, the output's gradient.
inline FusedCase AttentionCase(absl::string_view name,
                               const AttentionFunction& attention,
                               const Tensors& tensors) {
  return {.name = c10::str(name, " ", tensors[0].sizes(), " ",
                           tensors[0].scalar_type()),
          .fused = [=](const Tensors& x) -> Tensors {
            return {attention(x[0], x[1], x[2])};
          },
          .formula = [](const Tensors& x) -> Tensors {
            return {AttentionFormula(x[0], x[1], x[2])};
          },
          .inputs = {tensors.begin(), tensors.begin() + 3},
          .gradients = {tensors.begin() + 3, tensors.end()}};
}

// Compares the results and, for gradients of these, the gradients of the
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
    if (!device.emulated || !c.ends_in_libtorch) {
      expect_near(actual[i], expected[i], "result", i);
    }
    if (i < c.left_out) continue;
    const at::ScalarType type = actual[i].scalar_type();
    // Random numbers are exact in bf16, and so in all dtypes.
    const at::Tensor gradient =
        c.gradients.empty()
            ? at::randn(expected[i].sizes()).to(at::kBFloat16).to(type)
            : c.gradients.at(i);
    EXPECT_EQ(gradient.scalar_type(), type) << i;
    read.push_back(actual[i]);
    gradients.push_back(device.to_device(gradient));
    read_wide.push_back(expected[i]);
    gradients_wide.push_back(gradient.to(at::kDouble));
  }
  const Tensors found = torch::autograd::grad(read, inputs, gradients);
  const Tensors exact = torch::autograd::grad(read_wide, wide, gradients_wide);
  const auto known = [&](const at::Tensor& x) {
    return device.emulated && c.own_columns >= 0
               ? x.narrow(-1, 0, c.own_columns)
               : x;
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].scalar_type(), c.inputs[i].scalar_type());
    expect_near(known(found[i]), known(exact[i]), "gradient", i);
  }
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_MODEL_FUSED_COMPARISON_H_
