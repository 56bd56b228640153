// SPDX-License-Identifier: MIT
// The fused operations compared with float64, forward and backward.

#include <gtest/gtest.h>
#include <torch/types.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "model/fused/cross_entropy.h"
#include "model/fused/mm.h"
#include "model/fused/product.h"
#include "model/fused/rms_norm.h"
#include "model/fused/rope.h"
#include "model/fused/softmax.h"
#include "model/fused/swiglu.h"
#include "model/nn/rope.h"
#include "tests/model/fused/formulas.h"

namespace trainbench {
namespace {

constexpr at::ScalarType kTypes[] = {at::kFloat, at::kBFloat16};

// The tolerance for results that are rounded a few times.
double Tolerance(at::ScalarType dtype) {
  return dtype == at::kFloat ? 1e-6 : 6e-3;
}

Tensors Leaves(const Tensors& values, bool wide) {
  Tensors leaves;
  for (const at::Tensor& value : values) {
    leaves.push_back(value
                         .to(wide ? at::kDouble : value.scalar_type(), false,
                             /*copy=*/true)
                         .requires_grad_());
  }
  return leaves;
}

// Returns the gradients of the inputs for random gradients of the outputs after
// the first `left_out`.
Tensors Gradients(const Tensors& outputs, const Tensors& inputs,
                  std::size_t left_out) {
  at::manual_seed(99);
  at::Tensor sum = at::zeros({}, at::kDouble);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    // Exact in bf16, and so in all dtypes.
    const at::Tensor gradient = at::randn(outputs[i].sizes())
                                    .to(at::kBFloat16)
                                    .to(outputs[i].scalar_type());
    if (i >= left_out) sum = sum + (outputs[i] * gradient).sum(at::kDouble);
  }
  sum.backward();
  Tensors gradients;
  for (const at::Tensor& input : inputs) gradients.push_back(input.grad());
  return gradients;
}

// Runs the operation on copies of the inputs, since it may consume some.
void ExpectEqual(const Operation& fused, const Operation& formula,
                 const Tensors& values, const std::string& what,
                 std::size_t left_out = 0) {
  const Tensors inputs = Leaves(values, false), wide = Leaves(values, true);
  // Copies, because an in-place operation must not overwrite leaves.
  Tensors copies;
  for (const at::Tensor& input : inputs) copies.push_back(input.clone());
  const Tensors actual = fused(copies), expected = formula(wide);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].sizes(), expected[i].sizes()) << what;
    EXPECT_LE(RelativeNorm(actual[i], expected[i]),
              Tolerance(actual[i].scalar_type()))
        << what << ", result " << i;
  }
  const Tensors g = Gradients(actual, inputs, left_out);
  const Tensors e = Gradients(expected, wide, left_out);
  for (std::size_t i = 0; i < g.size(); ++i) {
    EXPECT_EQ(g[i].scalar_type(), inputs[i].scalar_type()) << what;
    EXPECT_LE(RelativeNorm(g[i], e[i]), Tolerance(g[i].scalar_type()))
        << what << ", gradient " << i;
  }
}

TEST(FusedAddRmsNormTest, FollowsTheFormula) {
  at::manual_seed(1);
  for (const at::ScalarType dtype : kTypes) {
    for (const int64_t dim : {2, 7, 16, 48, 83, 768}) {
      for (const std::size_t left_out : {0, 1}) {
        const Tensors values = {at::randn({3, 5, dim}).to(dtype),
                                at::randn({3, 5, dim}).to(dtype),
                                at::rand({dim}).add(0.5).to(dtype)};
        ExpectEqual(
            [](const Tensors& x) -> Tensors {
              const auto [sum, normed] = AddRmsNorm(x[0], x[1], x[2], 1e-5);
              return {sum, normed};
            },
            AddedNormFormula(dtype), values, "dim " + std::to_string(dim),
            left_out);
      }
    }
  }
}

TEST(FusedAddRmsNormTest, WithoutAnUpdateNormsTheResidual) {
  at::manual_seed(2);
  for (const at::ScalarType dtype : kTypes) {
    ExpectEqual(
        [](const Tensors& x) -> Tensors {
          const auto [sum, normed] = AddRmsNorm(x[0], {}, x[1], 1e-5);
          return {sum, normed};
        },
        [](const Tensors& x) -> Tensors {
          return {x[0] * 1, NormFormula(x[0], x[1])};
        },
        {at::randn({64, 33}).to(dtype), at::rand({33}).add(0.5).to(dtype)},
        "no update");
  }
}

TEST(FusedAddRmsNormTest, TinyAndHugeInputsStayFiniteAndRight) {
  at::manual_seed(3);
  for (const double scale : {1e-30, 1e-10, 1e-4, 1e4, 1e10, 1e17}) {
    const at::Tensor x = at::randn({4, 64}) * scale;
    const at::Tensor weight = at::ones({64});
    EXPECT_LE(RelativeNorm(AddRmsNorm(x, {}, weight, 1e-5).normed,
                           NormFormula(x.to(at::kDouble), weight)),
              1e-6)
        << scale;
  }
}

TEST(FusedSwigluTest, FollowsTheFormula) {
  at::manual_seed(4);
  for (const at::ScalarType dtype : kTypes) {
    for (const int64_t d_ff : {1, 15, 64, 100}) {
      ExpectEqual([](const Tensors& x) -> Tensors { return {Swiglu(x[0])}; },
                  SwigluFormula, {(at::randn({2, 9, 2 * d_ff}) * 4).to(dtype)},
                  "d_ff " + std::to_string(d_ff));
    }
  }
}

TEST(FusedSwigluTest, LargeGatesNeitherOverflowNorVanish) {
  const at::Tensor gates = at::tensor({-1e30F, -90.0F, 90.0F, 1e30F});
  const at::Tensor input =
      at::cat({gates, at::ones({4})}).unsqueeze(0).requires_grad_();
  const at::Tensor result = Swiglu(input);
  EXPECT_LE(result[0].narrow(0, 0, 2).abs().max().item<float>(), 1e-6F);
  EXPECT_TRUE(result[0].narrow(0, 2, 2).equal(gates.narrow(0, 2, 2)));
  result.sum().backward();
  EXPECT_TRUE(input.grad().isfinite().all().item<bool>());
}

TEST(FusedCausalSoftmaxTest, FollowsTheFormula) {
  at::manual_seed(5);
  for (const at::ScalarType dtype : kTypes) {
    for (const int64_t seq : {1, 5, 16, 50}) {
      const double scale = 0.37;
      ExpectEqual(
          [&](const Tensors& x) -> Tensors {
            return {CausalSoftmax(x[0], scale)};
          },
          [&](const Tensors& x) -> Tensors {
            return {CausalSoftmaxFormula(x[0], scale)};
          },
          {(at::randn({2, 3, seq, seq}) * 4).to(dtype)},
          "seq " + std::to_string(seq));
    }
  }
}

TEST(FusedCausalSoftmaxTest, MaskedScoresAreNotRead) {
  at::Tensor scores = at::full({1, 4, 4}, NAN).triu(1);
  const at::Tensor weights = CausalSoftmax(scores, 1);
  const at::Tensor expected =
      at::ones({4, 4}).tril() / at::arange(1, 5).unsqueeze(1);
  EXPECT_LE((weights[0] - expected).abs().max().item<float>(), 1e-7F);
}

TEST(FusedCrossEntropyTest, FollowsTheFormula) {
  at::manual_seed(6);
  for (const at::ScalarType dtype : kTypes) {
    for (const int64_t vocab : {1, 7, 41, 1000}) {
      const at::Tensor targets = at::randint(vocab, {3, 5}, at::kLong);
      ExpectEqual(
          [&](const Tensors& x) -> Tensors {
            return {FusedCrossEntropy(x[0], targets)};
          },
          [&](const Tensors& x) -> Tensors {
            return {
                at::cross_entropy_loss(x[0].flatten(0, 1), targets.flatten())};
          },
          {(at::randn({3, 5, vocab}) * 4).to(dtype)},
          "vocab " + std::to_string(vocab));
      if (vocab == 1) break;  // its loss of 0 has no relative error
    }
  }
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

TEST(FusedCrossEntropyTest, LargeLogitsKeepTheirLoss) {
  const at::Tensor targets = at::tensor({4, 0, 36}, at::kLong);
  for (const double logit : {0.0, 1e4, -1e4, 1e30}) {
    EXPECT_NEAR(
        FusedCrossEntropy(at::full({3, 37}, logit), targets).item<double>(),
        std::log(37.0), 1e-6)
        << logit;
  }
}

TEST(FusedCrossEntropyTest, ATargetOutsideTheVocabularyIsNamed) {
  for (const int64_t target : {-1, 5}) {
    try {
      FusedCrossEntropy(at::zeros({2, 5}),
                        at::tensor({int64_t{0}, target}, at::kLong));
      FAIL();
    } catch (const c10::Error& error) {
      EXPECT_EQ(std::string(error.what_without_backtrace()),
                "a target is " + std::to_string(target) + "; allowed: 0 to 4");
    }
  }
}

void ExpectRotation(at::ScalarType dtype, int64_t kv_heads, int64_t d_head) {
  constexpr int64_t kHeads = 4, kSeq = 6;
  Rope rope(d_head);
  const auto [cos, sin] = rope.Tables(kSeq, at::kFloat);
  ExpectEqual(
      [&, c = cos, s = sin](const Tensors& x) -> Tensors {
        const Heads heads = SplitAndRotate(x[0], kHeads, kv_heads, c, s);
        return {heads.q, heads.k, heads.v};
      },
      RopeFormula(kHeads, kv_heads, d_head),
      {at::randn({2, kSeq, (kHeads + 2 * kv_heads) * d_head}).to(dtype)},
      std::to_string(kv_heads) + " kv_heads, d_head " + std::to_string(d_head));
}

TEST(FusedRopeTest, EqualsTheTextbookRotation) {
  at::manual_seed(7);
  for (const at::ScalarType dtype : kTypes) {
    for (const int64_t d_head : {2, 6, 8, 16, 40, 64}) {
      for (const int64_t kv_heads : {4, 2, 1}) {
        ExpectRotation(dtype, kv_heads, d_head);
      }
    }
  }
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
  for (const at::ScalarType dtype : kTypes) {
    ExpectEqual(
        [](const Tensors& x) -> Tensors {
          return {JoinedProduct(x[0], at::TensorList(x).slice(1))};
        },
        ProductFormula,
        {at::randn({2, 5, 24}).to(dtype), at::randn({7, 24}).to(dtype),
         at::randn({3, 24}).to(dtype)},
        "apart");
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
  EXPECT_LE(RelativeNorm(y, ProductFormula({x, weights[0], weights[1]})[0]),
            1e-6);
  y.sum().backward();
  // Both gradients are views of one tensor, without a copy.
  EXPECT_TRUE(weights[0].grad().is_alias_of(weights[1].grad()));
  EXPECT_LE(RelativeNorm(weights[1].grad(), x.sum(0).expand({3, 24})), 1e-6);
}

// The second product is so large that some CPUs choose the other library.
TEST(LinearProductTest, FollowsTheFormula) {
  at::manual_seed(10);
  for (const auto& [rows, in, out] :
       {std::array<int64_t, 3>{5, 24, 7}, {160, 192, 144}}) {
    for (const at::ScalarType dtype : kTypes) {
      ExpectEqual(
          [](const Tensors& x) -> Tensors {
            return {LinearProduct(x[0], x[1])};
          },
          ProductFormula,
          {at::randn({2, rows, in}).to(dtype), at::randn({out, in}).to(dtype)},
          "linear");
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
        EXPECT_LE(RelativeNorm(c, expected), 1e-6)
            << ProductLibraryName(library);
      }
    }
  }
}

TEST(FusedOperationsTest, OtherDtypesAreNamed) {
  try {
    Swiglu(at::zeros({2, 4}, at::kDouble));
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_EQ(std::string(error.what_without_backtrace()),
              "dtype is Double; allowed: Float, BFloat16");
  }
}

}  // namespace
}  // namespace trainbench
