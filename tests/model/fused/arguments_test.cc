// SPDX-License-Identifier: MIT
// Arguments that the fused operations reject, with a message that says what is
// allowed, and layouts that must not be confused.

#include "model/fused/arguments.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/fused/attention.h"
#include "model/fused/cross_entropy.h"
#include "model/fused/product.h"
#include "model/fused/rms_norm.h"
#include "model/fused/softmax.h"
#include "model/fused/swiglu.h"
#include "model/nn/attention/tiled.h"
#include "tests/model/c10_error.h"
#include "tests/model/fused/comparison.h"
#include "tests/model/fused/formulas.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

at::Tensor Targets(std::initializer_list<int64_t> ids) {
  return at::tensor(at::ArrayRef<int64_t>(ids), at::kLong);
}

std::vector<FusedCase> Operations() {
  const auto tiled = [](const at::Tensor& q, const at::Tensor& k,
                        const at::Tensor& v) {
    return TiledAttention(q, k, v, {256, 256});
  };
  return {
      AttentionCase("attention", FusedAttention,
                    RandomAttention({2, 6, 16, 16}, at::kFloat)),
      AttentionCase("tiled attention", tiled,
                    RandomAttention({2, 16, 96}, at::kFloat)),
      NormCase(at::kFloat, {2, 16, 96}),
      RopeCase(at::kFloat, /*heads=*/2, /*kv_heads=*/2, /*d_head=*/16),
      SwigluCase(at::kFloat, {2, 16, 96}),
      SoftmaxCase(at::kFloat, {2, 16, 16}),
      {.name = "product",
       .fused = [](const Tensors& x) -> Tensors {
         return {JoinedProduct(x[0], {at::ones({3, 96}), at::ones({2, 96})})};
       },
       .inputs = {at::randn({2, 16, 96})}},
      {.name = "cross entropy",
       .fused = [](const Tensors& x) -> Tensors {
         return {FusedCrossEntropy(x[0], at::zeros({2, 16}, at::kLong))};
       },
       .inputs = {at::randn({2, 16, 96})}}};
}

TEST(FusedOperationsTest, ASecondDerivativeIsRefused) {
  for (const FusedCase& c : Operations()) {
    Tensors inputs = c.inputs;
    const at::Tensor leaf = inputs[0].requires_grad_();
    inputs[0] = leaf * 1;  // may be overwritten
    const at::Tensor sum = c.fused(inputs).back().sum();
    const auto differentiate = [&](bool create_graph) {
      return ErrorOf([&] {
        torch::autograd::grad({sum}, {leaf}, {}, /*retain_graph=*/true,
                              create_graph);
      });
    };
    EXPECT_THAT(differentiate(true), HasSubstr("without create_graph"))
        << c.name;
    EXPECT_EQ(differentiate(false), "no error") << c.name;
  }
}

TEST(FusedCrossEntropyTest, HandsItsGradientToOnePassOnly) {
  const at::Tensor leaf = at::randn({2, 5}).requires_grad_();
  const at::Tensor loss = FusedCrossEntropy(leaf * 1, Targets({1, 4}));
  const auto backward = [&] { loss.backward({}, /*retain_graph=*/true); };
  backward();
  EXPECT_THAT(ErrorOf(backward), HasSubstr("allowed: one pass"));
}

TEST(FusedCrossEntropyTest, TakesTargetsThatLieApart) {
  const at::Tensor logits = at::randn({3, 1, 5});
  // Targets that are the second tokens of three sequences.
  const at::Tensor targets =
      Targets({9, 0, 9, 4, 9, 2}).view({3, 2}).narrow(1, 1, 1);
  const at::Tensor expected =
      at::cross_entropy_loss(logits.flatten(0, 1), Targets({0, 4, 2}));
  EXPECT_TRUE(at::allclose(FusedCrossEntropy(logits.clone(), targets), expected,
                           /*rtol=*/1e-6));
}

TEST(FusedOperationsTest, RefusedArgumentsAreNamed) {
  const at::Tensor x = at::zeros({2, 4}), logits = at::zeros({2, 5});
  const at::Tensor q = at::ones({1, 20, 8}), longer = at::ones({1, 21, 8});
  const auto norm = [&](const at::Tensor& weight) {
    return [=] { AddRmsNorm(x, {}, weight, 1e-5); };
  };
  const auto attend = [&](at::ScalarType type, const at::Tensor& k) {
    return [=] { FusedAttention(q.to(type), k, q.to(type)); };
  };
  const auto tile = [&](const at::Tensor& k, const AttentionTiles& tiles) {
    return [=] { TiledAttention(q, k, q, tiles); };
  };
  constexpr char kWeight[] = "allowed: the same dtype, contiguous";
  const std::vector<std::pair<std::string, std::function<void()>>> refusals = {
      {"targets are Int on cpu; allowed: Long on cpu",
       [&] { FusedCrossEntropy(logits, at::zeros({2}, at::kInt)); }},
      {"a target is -1; allowed: 0 to 4",
       [&] {
         FusedCrossEntropy(logits, Targets({0, -1}));
       }},
      {"a target is 5; allowed: 0 to 4",
       [&] {
         FusedCrossEntropy(logits, Targets({0, 5}));
       }},
      {"dtype is Double; allowed: Float, BFloat16",
       [&] { Swiglu(x.to(at::kDouble)); }},
      {"not empty",
       [] {
         Swiglu(at::zeros({2, 0}));
       }},
      {"not empty",
       [] {
         CausalSoftmax(at::zeros({2, 0, 0}), 1);
       }},
      {kWeight, norm(at::ones({4}, at::kBFloat16))},
      {kWeight, norm(at::ones({2}))},
      {kWeight, norm(at::ones({8}).slice(0, 0, 8, 2))},
      {kWeight, norm(at::ones({4, 1}))},
      {"allowed: the same", attend(at::kFloat, longer)},
      {"allowed: the same", [&] { FusedAttention(q, q, longer); }},
      {"all Float or all", attend(at::kFloat, q.to(at::kBFloat16))},
      {"all Float or all", attend(at::kDouble, q.to(at::kDouble))},
      {"allowed: the same", tile(longer, {16, 16})},
      {"tiles are 16 x 15; allowed: at least 16", tile(q, {16, 15})}};
  for (const auto& [text, call] : refusals) {
    EXPECT_THAT(ErrorOf(call), HasSubstr(text));
  }
}

}  // namespace
}  // namespace trainbench
