// SPDX-License-Identifier: MIT

#include "model/training/train_step.h"

#include <ATen/SequenceNumber.h>
#include <ATen/autocast_mode.h>
#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "tests/model/training/small_model.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

class RecordingObserver final : public PhaseObserver {
 public:
  void Enter(Phase phase) override {
    phases.push_back(phase);
    autocast.push_back(at::autocast::is_autocast_enabled(at::kCPU));
  }
  std::vector<Phase> phases;
  std::vector<bool> autocast;  // by phase: whether it is on at the beginning
};

class TrainStepTest : public testing::Test {
 protected:
  TrainStepTest()
      : model_(SeededModel({"m", 24, 40, 2, 3, 37}, at::kFloat)),
        optimizer_(Parameters(model_), AdamWKind::kFused),
        batch_(RandomBatch(37, 2, 5, at::kCPU)) {}

  at::Tensor Run(StepMode mode, PhaseObserver& observer) {
    return RunStep(mode, model_, &optimizer_, batch_, Precision::kFp32,
                   observer);
  }

  // The number of nodes that a step of `mode` adds to autograd's graph.
  uint64_t CountNodes(StepMode mode) {
    const uint64_t before = at::sequence_number::peek();
    Run(mode, NoObserver());
    return at::sequence_number::peek() - before;
  }

  TransformerLm model_;
  AdamW optimizer_;
  Batch batch_;
};

TEST_F(TrainStepTest, PhasesArriveInOrder) {
  const auto phases = [&](StepMode mode) {
    RecordingObserver observer;
    Run(mode, observer);
    return observer.phases;
  };
  EXPECT_THAT(phases(StepMode::kInference), ElementsAre(Phase::kForward));
  EXPECT_THAT(phases(StepMode::kForward), ElementsAre(Phase::kForward));
  EXPECT_THAT(phases(StepMode::kForwardBackward),
              ElementsAre(Phase::kForward, Phase::kLoss, Phase::kBackward));
  EXPECT_THAT(phases(StepMode::kTrainStep),
              ElementsAre(Phase::kForward, Phase::kLoss, Phase::kBackward,
                          Phase::kOptimizer));
}

TEST_F(TrainStepTest, OnlyInferenceRecordsNoGraph) {
  EXPECT_EQ(CountNodes(StepMode::kInference), 0U);
  EXPECT_GT(CountNodes(StepMode::kForward), 50U);
  EXPECT_GT(CountNodes(StepMode::kForwardBackward),
            CountNodes(StepMode::kForward));
}

TEST_F(TrainStepTest, GradientsAreReleasedAndResultsDetached) {
  for (const StepMode mode : kStepModes) {
    EXPECT_FALSE(Run(mode, NoObserver()).requires_grad()) << StepModeName(mode);
    for (const at::Tensor& parameter : Parameters(model_)) {
      EXPECT_FALSE(parameter.grad().defined()) << StepModeName(mode);
    }
  }
}

TEST_F(TrainStepTest, OnlyTrainStepChangesTheWeights) {
  for (const StepMode mode : kStepModes) {
    std::vector<at::Tensor> before;
    for (const at::Tensor& parameter : Parameters(model_)) {
      before.push_back(parameter.detach().clone());
    }
    Run(mode, NoObserver());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(Parameters(model_)[i].equal(before[i]),
                mode != StepMode::kTrainStep)
          << StepModeName(mode) << " " << i;
    }
  }
}

TEST_F(TrainStepTest, NoStepListsTheParametersAgain) {
  EXPECT_EQ(&Parameters(model_), &Parameters(model_));
  EXPECT_EQ(Parameters(model_).size(), model_->parameters().size());
}

TEST_F(TrainStepTest, OnlyTrainStepNeedsAnOptimizer) {
  EXPECT_THROW(
      RunStep(StepMode::kTrainStep, model_, nullptr, batch_, Precision::kFp32),
      c10::Error);
}

// A forward phase begins before autocast is turned on.
TEST_F(TrainStepTest, BackwardAndOptimizerRunWithoutAutocast) {
  RecordingObserver observer;
  RunStep(StepMode::kTrainStep, model_, &optimizer_, batch_,
          Precision::kBf16Autocast, observer);
  EXPECT_THAT(observer.autocast, ElementsAre(false, true, false, false));
}

TEST(RandomBatchTest, CoversTheVocabularyAndFollowsTheSeed) {
  at::manual_seed(4);
  const Batch batch = RandomBatch(11, 8, 64, at::kCPU);
  for (const at::Tensor& x : {batch.tokens, batch.targets}) {
    EXPECT_EQ(x.scalar_type(), at::kLong);
    EXPECT_EQ(x.sizes(), at::IntArrayRef({8, 64}));
    EXPECT_EQ(x.min().item<int64_t>(), 0);
    EXPECT_EQ(x.max().item<int64_t>(), 10);
  }
  EXPECT_FALSE(batch.tokens.equal(batch.targets));
  at::manual_seed(4);
  const Batch again = RandomBatch(11, 8, 64, at::kCPU);
  EXPECT_TRUE(again.tokens.equal(batch.tokens));
  EXPECT_TRUE(again.targets.equal(batch.targets));
  EXPECT_FALSE(RandomBatch(11, 8, 64, at::kCPU).tokens.equal(batch.tokens));
}

TEST(RandomizeGradientsTest, EveryParameterHasOneOfItsOwn) {
  TransformerLm model(
      ParseModel("name=n,d_model=8,d_ff=16,layers=1,heads=2,vocab=16").value(),
      at::kFloat);
  RandomizeGradients(model);
  for (const at::Tensor& parameter : Parameters(model)) {
    ASSERT_TRUE(parameter.grad().defined());
    EXPECT_FALSE(parameter.grad().requires_grad());
    EXPECT_GT(parameter.grad().abs().min().item<double>(), 0);
  }
}

}  // namespace
}  // namespace trainbench
