// SPDX-License-Identifier: MIT

#include "model/nn/checkpoint.h"

#include <ATen/SequenceNumber.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <string>
#include <vector>

#include "model/nn/autocast.h"
#include "tests/model/c10_error.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

using Tensors = std::vector<at::Tensor>;

at::Tensor Leaf(at::IntArrayRef sizes) {
  return at::randn(sizes).set_requires_grad(true);
}

// Returns tanh(x W)^2 and its double.
struct Work {
  Tensors operator()(const Tensors& inputs) const {
    const at::Tensor y = at::mm(inputs[0], weight).tanh();
    return {y * y, 2 * y};
  }

  at::Tensor weight = Leaf({3, 3});
};

at::Tensor Sum(const Tensors& results) {
  return results[0].sum() + (results[1] * results[1]).sum();
}

TEST(CheckpointTest, BackwardAccumulatesInTheParametersAndCallsTheirHooks) {
  const Work work;
  const at::Tensor x = at::randn({2, 3});  // needs no gradient
  Sum(work({x})).backward();
  const at::Tensor expected = work.weight.grad().clone();
  int calls = 0;
  work.weight.register_hook([&](const at::Tensor&) { ++calls; });
  Sum(Checkpoint(work, {x}, {work.weight})).backward();
  EXPECT_TRUE(work.weight.grad().equal(2 * expected));
  EXPECT_EQ(calls, 1);
}

TEST(CheckpointTest, OneUnusedResultNeedsNoGradient) {
  const Work work;
  const at::Tensor x = Leaf({2, 3});
  const at::Tensor expected =
      torch::autograd::grad({work({x})[1].sum()}, {x})[0];
  const at::Tensor y = Checkpoint(work, {x}, {work.weight})[1];
  EXPECT_TRUE(torch::autograd::grad({y.sum()}, {x})[0].equal(expected));
}

TEST(CheckpointTest, WithoutGradientsNothingIsMade) {
  const Work work;
  const at::NoGradGuard no_grad;
  const uint64_t before = at::sequence_number::peek();
  const Tensors results = Checkpoint(work, {at::randn({2, 3})}, {work.weight});
  EXPECT_FALSE(results[0].requires_grad());
  EXPECT_EQ(at::sequence_number::peek(), before);
}

// A weight copy cached by the forward pass, without a graph, would cut off the
// gradient.
TEST(CheckpointTest, TheCacheOfAnAutocastAroundBothPassesIsNotUsed) {
  const at::Tensor weight = Leaf({3, 3}), x = Leaf({2, 3});
  const auto work = [&](const Tensors& inputs) {
    return Tensors{at::mm(inputs[0], weight)};
  };
  const AutocastScope autocast(at::kBFloat16, at::kCPU);
  const at::Tensor y = Checkpoint(work, {x}, {weight})[0];
  EXPECT_TRUE(torch::autograd::grad({y.sum()}, {weight})[0].defined());
  EXPECT_TRUE(at::mm(x, weight).requires_grad());
}

std::string Refusal(const at::Tensor& loss, const at::Tensor& of,
                    bool create_graph = false) {
  return ErrorOf([&] {
    torch::autograd::grad({loss}, {of}, {}, std::nullopt, create_graph);
  });
}

TEST(CheckpointTest, RefusesWhatHasChangedSince) {
  for (const bool change_weight : {false, true}) {
    const Work work;
    const at::Tensor x = Leaf({2, 3});
    const at::Tensor loss = Sum(Checkpoint(work, {x}, {work.weight}));
    {
      const at::NoGradGuard no_grad;
      (change_weight ? work.weight : x).add_(1);
    }
    EXPECT_THAT(Refusal(loss, x),
                HasSubstr("modified by an inplace operation"));
  }
}

TEST(CheckpointTest, RefusesASecondDerivative) {
  const Work work;
  const at::Tensor x = Leaf({2, 3});
  const at::Tensor loss = Sum(Checkpoint(work, {x}, {work.weight}));
  EXPECT_THAT(Refusal(loss, x, /*create_graph=*/true),
              HasSubstr("checkpoint has no second derivative"));
}

}  // namespace
}  // namespace trainbench
