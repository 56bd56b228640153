// SPDX-License-Identifier: MIT
// Hooks report the gradients of recomputed blocks like all others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstddef>
#include <vector>

#include "model/distributed/ddp/gradient_hooks.h"
#include "model/training/train_step.h"

namespace trainbench {
namespace {

using ::testing::Each;

TEST(CheckpointedHooksTest, EachGradientIsToldOnceAndIsCompleteThen) {
  ModelConfig config = {"m", 24, 40, 5, 3, 37};
  config.checkpointing = {Checkpointing::Kind::kBlocks, 2};
  at::manual_seed(1);
  TransformerLm model(config, at::TensorOptions());
  const std::vector<at::Tensor> parameters = Parameters(model);
  std::vector<at::Tensor> told(parameters.size());
  std::vector<int> calls(parameters.size());
  const GradientHooks hooks(parameters, [&](std::size_t i) {
    ++calls[i];
    told[i] = parameters[i].grad().clone();
  });
  ComputeGradients(model, RandomBatch(37, 2, 5, at::kCPU), Precision::kFp32,
                   NoObserver());
  EXPECT_THAT(calls, Each(1));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_TRUE(parameters[i].grad().equal(told[i])) << i;
  }
}

}  // namespace
}  // namespace trainbench
