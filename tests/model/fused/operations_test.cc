// SPDX-License-Identifier: MIT
// The fused operations compared with float64, forward and backward.

#include <gtest/gtest.h>
#include <torch/types.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "model/fused/cross_entropy.h"
#include "model/fused/mm.h"
#include "model/fused/product.h"
#include "model/fused/softmax.h"
#include "model/fused/swiglu.h"
#include "model/verification/relative_error.h"
#include "tests/model/fused/comparison.h"
#include "tests/model/fused/formulas.h"

namespace trainbench {
namespace {

const FusedDevice kCpu = CpuWith(
    [](at::ScalarType dtype) { return dtype == at::kFloat ? 1e-6 : 6e-3; });

TEST(FusedOperationsTest, FollowTheFormulas) {
  at::manual_seed(1);
  for (const at::ScalarType dtype : kFusedTypes) {
    for (const FusedCase& c : FormulaCases(dtype)) ExpectFormula(kCpu, c);
  }
}

TEST(FusedSwigluTest, LargeGatesNeitherOverflowNorVanish) {
  const at::Tensor gates = at::tensor({-3e38F, -90.0F, 90.0F, 3e38F});
  const at::Tensor input =
      at::cat({gates, at::ones({4})}).unsqueeze(0).requires_grad_();
  const at::Tensor result = Swiglu(input);
  EXPECT_LE(result[0].narrow(0, 0, 2).abs().max().item<float>(), 1e-6F);
  EXPECT_TRUE(result[0].narrow(0, 2, 2).equal(gates.narrow(0, 2, 2)));
  result.sum().backward();
  EXPECT_TRUE(input.grad().isfinite().all().item<bool>());
  EXPECT_LE(input.grad()[0].narrow(0, 0, 2).abs().max().item<float>(), 1e-6F);
}

TEST(FusedCausalSoftmaxTest, MaskedScoresAreNotRead) {
  at::Tensor scores = at::full({1, 4, 4}, NAN).triu(1);
  const at::Tensor weights = CausalSoftmax(scores, 1);
  const at::Tensor expected =
      at::ones({4, 4}).tril() / at::arange(1, 5).unsqueeze(1);
  EXPECT_LE((weights[0] - expected).abs().max().item<float>(), 1e-7F);
}

TEST(FusedCrossEntropyTest, WritesTheGradientOverTheLogitsAndNothingElse) {
  const at::Tensor logits = at::randn({6, 50});
  const at::Tensor targets = at::randint(50, {6}, at::kLong);
  const at::Tensor before = logits.clone();
  FusedCrossEntropy(logits, targets);
  EXPECT_TRUE(logits.equal(before)) << "nobody asked for a gradient";

  const at::Tensor leaf = before.clone().requires_grad_();
  at::Tensor copy = leaf * 1;
  const void* const data = copy.data_ptr();
  const at::Tensor loss = FusedCrossEntropy(copy, targets);
  at::Tensor seen;
  copy.register_hook([&](const at::Tensor& gradient) { seen = gradient; });
  loss.backward();
  EXPECT_EQ(seen.data_ptr(), data);
}

Tensors ProductFormula(const Tensors& x) {
  Tensors products;
  for (std::size_t i = 1; i < x.size(); ++i) {
    products.push_back(at::matmul(x[0], x[i].t()));
  }
  return {at::cat(products, -1)};
}

TEST(JoinedProductTest, FollowsTheFormula) {
  at::manual_seed(8);
  for (const at::ScalarType dtype : kFusedTypes) {
    ExpectFormula(kCpu,
                  {.name = c10::str("a product of separate weights, ", dtype),
                   .fused = [](const Tensors& x) -> Tensors {
                     return {JoinedProduct(x[0], at::TensorList(x).slice(1))};
                   },
                   .formula = ProductFormula,
                   .inputs = {at::randn({2, 5, 24}).to(dtype),
                              at::randn({7, 24}).to(dtype),
                              at::randn({3, 24}).to(dtype)}});
  }
}

TEST(JoinedProductTest, TakesAdjacentWeightsAsTheyLie) {
  at::manual_seed(9);
  const Tensors weights = AdjacentMatrices({7, 3}, 24, at::kFloat);
  for (const at::Tensor& weight : weights) {
    weight.normal_();
    weight.set_requires_grad(true);
  }
  const at::Tensor x = at::randn({5, 24});
  const at::Tensor y = JoinedProduct(x, weights);
  EXPECT_LE(RelativeError(y, ProductFormula({x, weights[0], weights[1]})[0]),
            1e-6);
  y.sum().backward();
  // Both gradients are views of one tensor, without a copy.
  EXPECT_TRUE(weights[0].grad().is_alias_of(weights[1].grad()));
  EXPECT_LE(RelativeError(weights[1].grad(), x.sum(0).expand({3, 24})), 1e-6);
}

// The second product is so large that some CPUs choose the other library.
TEST(LinearProductTest, FollowsTheFormula) {
  at::manual_seed(10);
  for (const auto& [rows, in, out] :
       {std::array<int64_t, 3>{5, 24, 7}, {160, 192, 144}}) {
    for (const at::ScalarType dtype : kFusedTypes) {
      ExpectFormula(kCpu,
                    {.name = c10::str("a product of ", rows, " rows, ", dtype),
                     .fused = [](const Tensors& x) -> Tensors {
                       return {LinearProduct(x[0], x[1])};
                     },
                     .formula = ProductFormula,
                     .inputs = {at::randn({2, rows, in}).to(dtype),
                                at::randn({out, in}).to(dtype)}});
    }
  }
}

TEST(MmIntoTest, EachLibraryTakesAnyLayout) {
  at::manual_seed(11);
  const at::Tensor a = at::randn({40, 30}), b = at::randn({30, 50});
  const at::Tensor expected = at::mm(a.to(at::kDouble), b.to(at::kDouble));
  const auto transposed = [](const at::Tensor& x) {
    return x.t().contiguous().t();
  };
  for (const ProductLibrary library : kProductLibraries) {
    if (!ProductLibraryUnavailable(library).empty()) {
      at::Tensor c = at::empty({40, 50});
      EXPECT_THROW(MmInto(library, a, b, c), c10::Error);
      continue;
    }
    for (const at::Tensor& left : {a, transposed(a)}) {
      for (const at::Tensor& right : {b, transposed(b)}) {
        at::Tensor c = at::full({40, 50}, NAN);
        MmInto(library, left, right, c);
        EXPECT_LE(RelativeError(c, expected), 1e-6)
            << ProductLibraryName(library);
      }
    }
  }
}

}  // namespace
}  // namespace trainbench
