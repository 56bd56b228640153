// SPDX-License-Identifier: MIT
// The fused operations on a GPU compared with float64, with autograd.

#include <gtest/gtest.h>
#include <torch/types.h>

#include <array>

#include "model/fused/rms_norm.h"
#include "model/fused/rope.h"
#include "model/nn/autocast.h"
#include "model/nn/rope.h"
#include "model/verification/relative_error.h"
#include "tests/model/c10_error.h"
#include "tests/model/fused/cuda/fixture.h"

namespace trainbench {
namespace {

TEST_F(CudaFusedTest, FollowsTheFormulas) {
  for (const at::ScalarType dtype : kFusedTypes) {
    for (const FusedCase& c : FormulaCases(dtype)) {
      ExpectFormula(c);
      // LibTorch copies the other columns, or computes the mean.
      ExpectKernelsOfLibTorch(c.own_columns >= 0 || c.ends_in_libtorch ? 1 : 0);
    }
  }
}

TEST_F(CudaFusedTest, AddRmsNormUnderAutocast) {
  FusedCase c = AddNormCase(at::kFloat, {5, 96});
  c.inputs[1] = c.inputs[1].to(at::kBFloat16);
  c.fused = [add_and_norm = c.fused](const Tensors& x) {
    const AutocastScope scope(at::kBFloat16, at::kCUDA);
    return add_and_norm(x);
  };
  ExpectFormula(c);
}

TEST_F(CudaFusedTest, RopeTakesGradientsInDifferentLayouts) {
  // The queries' gradient is the same for each sequence.
  const std::array<at::Tensor, 3> gradients = {
      at::randn({1, 3, 6, 16}).expand({2, 3, 6, 16}), at::randn({2, 3, 6, 16}),
      at::randn({2, 3, 6, 16})};
  const auto [cos, sin] = trainbench::Rope(16).Tables(6, at::kFloat);
  const auto gradient = [&, angles = std::pair(cos, sin)](const auto& place) {
    const at::Tensor qkv = place(at::zeros({2, 6, 9 * 16})).requires_grad_();
    const Heads heads =
        SplitAndRotate(qkv, 3, 3, place(angles.first), place(angles.second));
    return torch::autograd::grad(
        {heads.q, heads.k, heads.v}, {qkv},
        {place(gradients[0]), place(gradients[1]), place(gradients[2])})[0];
  };
  const at::Tensor result =
      ToHost(gradient([&](const at::Tensor& x) { return ToDevice(x); }));
  ExpectKernelsOfLibTorch(1);  // copies the gradient of the values
  if (emulated()) return;
  const at::Tensor expected = gradient([](at::Tensor x) { return x; });
  EXPECT_LE(RelativeError(result, expected), Tolerance(at::kFloat));
}

TEST_F(CudaFusedTest, ANormOfTooManyColumnsIsNamed) {
  const at::Tensor x = ToDevice(at::zeros({1, 8200}));
  EXPECT_EQ(ErrorOf([&] { AddRmsNorm(x, {}, x[0], 1e-5); }),
            "a norm has 8200 columns; allowed on a GPU: at most 8192");
}

}  // namespace
}  // namespace trainbench
