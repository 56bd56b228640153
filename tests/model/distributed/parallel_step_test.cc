// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/parallel_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/support/fake_group.h"
#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

using ::testing::ElementsAre;

class RecordingObserver final : public PhaseObserver {
 public:
  void Enter(Phase phase) override {
    // A phase may be entered again before the next one.
    if (phases.empty() || phases.back() != phase) phases.push_back(phase);
  }
  std::vector<Phase> phases;
};

TransformerLm MakeModel(uint64_t seed) {
  at::manual_seed(seed);
  return TransformerLm(
      ModelConfig{"m", 24, 40, 2, 3, 37, AttentionKind::kNaive},
      at::TensorOptions());
}

class RankParallelStep : public RankTest {};

TEST_F(RankParallelStep, StepsAsOneProcess) {
  const int ranks = launch_.world_size;
  at::manual_seed(5);
  const Batch whole = RandomBatch(37, 2 * ranks, 5, at::kCPU);
  const Batch mine = {whole.tokens.narrow(0, 2 * launch_.rank, 2),
                      whole.targets.narrow(0, 2 * launch_.rank, 2)};
  for (const SyncStrategy strategy : kSyncStrategies) {
    TransformerLm model = MakeModel(static_cast<uint64_t>(launch_.rank));
    TransformerLm alone = MakeModel(0);
    BroadcastModel(*model, *group_);
    AdamW optimizer(Parameters(model), AdamWKind::kFused);
    AdamW optimizer_alone(Parameters(alone), AdamWKind::kFused);
    const auto sync = MakeGradientSync({.strategy = strategy},
                                       TrainableParameters(*model), *group_);
    for (int step = 0; step < 3; ++step) {
      RecordingObserver observer;
      const at::Tensor loss = RunParallelStep(model, optimizer, *sync, mine,
                                              Precision::kFp32, observer);
      EXPECT_THAT(observer.phases,
                  ElementsAre(Phase::kForward, Phase::kLoss, Phase::kBackward,
                              Phase::kCommunication, Phase::kOptimizer));
      NullObserver nobody;
      const at::Tensor expected =
          RunStep(StepMode::kTrainStep, alone, &optimizer_alone, whole,
                  Precision::kFp32, nobody);
      group_->AllReduce(loss);
      EXPECT_TRUE((loss / ranks).allclose(expected, 1e-5))
          << SyncStrategyName(strategy) << " step " << step;
    }
    for (std::size_t i = 0; i < Parameters(model).size(); ++i) {
      const at::Tensor a = Parameters(model)[i], b = Parameters(alone)[i];
      EXPECT_FALSE(a.grad().defined());
      // Where a gradient is nearly 0, rounding decides where AdamW steps to.
      const at::Tensor far = (a - b).abs() > 1e-4;
      EXPECT_LE(far.sum().item<int64_t>(), 2) << i;
    }
  }
}

// Though the parameters have hooks that would send.
TEST(UnsynchronizedStepTest, StepsOnThisRanksGradientsAndSendsNothing) {
  for (const SyncStrategy strategy : kSyncStrategies) {
    if (strategy == SyncStrategy::kReducer) continue;  // needs c10d's group
    SCOPED_TRACE(SyncStrategyName(strategy));
    FakeGroup group(/*rank=*/0, /*size=*/2);
    TransformerLm model = MakeModel(0), alone = MakeModel(0);
    AdamW optimizer(Parameters(model), AdamWKind::kFused);
    AdamW optimizer_alone(Parameters(alone), AdamWKind::kFused);
    const auto sync = MakeGradientSync({.strategy = strategy},
                                       TrainableParameters(*model), group);
    const Batch batch = RandomBatch(37, 2, 5, at::kCPU);
    RunUnsynchronizedStep(model, optimizer, batch, Precision::kFp32);
    EXPECT_EQ(group.calls(), 0);
    NullObserver nobody;
    RunStep(StepMode::kTrainStep, alone, &optimizer_alone, batch,
            Precision::kFp32, nobody);
    for (std::size_t i = 0; i < Parameters(model).size(); ++i) {
      EXPECT_FALSE(Parameters(model)[i].grad().defined());
      EXPECT_TRUE(Parameters(model)[i].equal(Parameters(alone)[i])) << i;
    }
    // The next step is synchronised again.
    RunParallelStep(model, optimizer, *sync, batch, Precision::kFp32, nobody);
    EXPECT_GT(group.calls(), 0);
  }
}

}  // namespace
}  // namespace trainbench
