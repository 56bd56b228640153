// SPDX-License-Identifier: MIT

#include "fixtures/model_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/accounting/flops.h"

namespace trainbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Names(const std::vector<StepParams>& steps) {
  std::vector<std::string> names;
  for (const StepParams& step : steps) {
    names.push_back(StepName("e", step).text());
  }
  return names;
}

StepAxes Axes() {
  return {.models = {"tiny", "small"},
          .precisions = {Precision::kFp32},
          .modes = {StepMode::kForward},
          .seqs = {8, 16}};
}

TEST(StepGridTest, HasEveryCombinationInOrder) {
  EXPECT_THAT(Names(StepGrid({}, Axes())),
              ElementsAre("e/tiny/fp32/forward/batch:4/seq:8",
                          "e/tiny/fp32/forward/batch:4/seq:16",
                          "e/small/fp32/forward/batch:4/seq:8",
                          "e/small/fp32/forward/batch:4/seq:16"));
}

TEST(StepGridTest, FlagsReplaceAxes) {
  RunOptions options;
  options.selected_models = {"medium"};
  options.batch = 2;
  options.seq = 32;
  EXPECT_THAT(Names(StepGrid(options, Axes())),
              ElementsAre("e/medium/fp32/forward/batch:2/seq:32"));
}

class ModelStepTest : public testing::Test {
 protected:
  ModelStepTest() {
    params_.model =
        *ParseModel("name=nano,d_model=16,d_ff=32,layers=1,heads=2,vocab=64");
    params_.precision = Precision::kFp32;
    params_.mode = StepMode::kTrainStep;
    params_.batch = 2;
    params_.seq = 8;
  }
  StepParams params_;
  Device device_ = *OpenDevice("cpu");
};

TEST_F(ModelStepTest, RunsEveryPhaseOfItsMode) {
  struct Phases final : PhaseObserver {
    void Enter(Phase phase) override { seen.push_back(phase); }
    std::vector<Phase> seen;
  } phases;
  ModelStep step(params_, device_);
  ASSERT_TRUE(step.Check().ok());
  step.Run(phases);
  EXPECT_THAT(phases.seen, ElementsAre(Phase::kForward, Phase::kLoss,
                                       Phase::kBackward, Phase::kOptimizer));
}

TEST_F(ModelStepTest, TheCostIsTheAccountings) {
  const Cost cost = ModelStep::CostOf(params_, device_);
  EXPECT_EQ(cost.flops, StepFlops(params_.model, 2, 8, params_.mode));
  EXPECT_EQ(cost.precision, Precision::kFp32);
  EXPECT_EQ(cost.predicted_peak_bytes,
            EstimateMemory(StepMemory(params_, device_)).peak.bytes);
  EXPECT_THAT(cost.largest_term, HasSubstr("GiB; peak at: "));
}

TEST_F(ModelStepTest, TheLargestTermFollowsTheShape) {
  params_.model = *FindModel("2.7B", StandardModels());
  params_.batch = 1;
  EXPECT_THAT(ModelStep::CostOf(params_, device_).largest_term,
              HasSubstr("optimizer state, 25.38 GiB"));
  params_.seq = 16384;
  EXPECT_THAT(ModelStep::CostOf(params_, device_).largest_term,
              HasSubstr("activations, gradients and temporaries"));
}

TEST_F(ModelStepTest, OnlyGpusHaveTf32) {
  params_.precision = Precision::kTf32;
  EXPECT_THAT(ModelStep::Unavailable(params_, device_), HasSubstr("is a CPU"));
  device_.torch_device = c10::Device(c10::kCUDA, 0);
  EXPECT_EQ(ModelStep::Unavailable(params_, device_), "");
}

}  // namespace
}  // namespace trainbench
