// SPDX-License-Identifier: MIT

#include "fixtures/step_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace trainbench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using enum TimeOf;

StepParams Step(StepMode mode, AttentionKind attention,
                Precision precision = Precision::kFp32) {
  ModelConfig model = *FindModel("tiny", StandardModels());
  model.layers = 2;
  model.attention = attention;
  return {model, precision, mode, 2, 32};
}

std::vector<std::string> Texts(const StepParams& step, TimeOf time_of) {
  std::vector<std::string> texts;
  for (const StepPart& part : PartsOf(step, time_of)) {
    texts.push_back(absl::StrCat(PhaseText(part), "/", ComponentText(part)));
    if (part.layer) absl::StrAppend(&texts.back(), "/", *part.layer);
  }
  return texts;
}

TEST(StepPartsTest, InferenceIsForwardOnly) {
  EXPECT_THAT(
      Texts(Step(StepMode::kInference, AttentionKind::kSdpa), kHostOps),
      ElementsAre("forward/embedding", "forward/projections", "forward/rope",
                  "forward/fused_attention", "forward/output_projection",
                  "forward/ffn", "forward/norm", "forward/residual",
                  "forward/lm_head", "forward/all", "forward/block/0",
                  "forward/block/1", "step/all"));
}

TEST(StepPartsTest, OnlyATrainStepHasAnOptimizer) {
  const AttentionKind naive = AttentionKind::kNaive;
  const auto backward =
      Texts(Step(StepMode::kForwardBackward, naive), kHostOps);
  EXPECT_THAT(backward, Contains("loss/cross_entropy"));
  EXPECT_THAT(backward, Contains("backward/cross_entropy"));
  EXPECT_THAT(backward, Not(Contains("optimizer/optimizer")));
  const auto train = Texts(Step(StepMode::kTrainStep, naive), kHostOps);
  EXPECT_THAT(train, Contains("optimizer/optimizer"));
  EXPECT_THAT(train, Contains("optimizer/all"));
  EXPECT_THAT(train, Contains("step/all"));
  EXPECT_THAT(train, Contains("step/unattributed"));
  EXPECT_THAT(train, Not(Contains("forward/fused_attention")));
  EXPECT_THAT(train, Contains("backward/softmax"));
}

TEST(StepPartsTest, SpentOnAPartIsItsShareOfTheAttribution) {
  Attribution step;
  step.components[{Phase::kForward, Component::kFfn}] = {.time_ns = 3};
  step.layers[{Phase::kForward, 1}] = {.time_ns = 2};
  step.phases[Phase::kForward] = {.time_ns = 4};
  step.unattributed = {.time_ns = 1};
  step.step = {.time_ns = 5};
  const auto time_of = [&](const StepPart& part) {
    return SpentOn(part, step)->time_ns;
  };
  EXPECT_EQ(time_of({Phase::kForward, Component::kFfn}), 3);
  EXPECT_EQ(time_of({.phase = Phase::kForward, .layer = 1}), 2);
  EXPECT_EQ(time_of({.phase = Phase::kForward}), 4);
  EXPECT_EQ(time_of({}), 5);
  EXPECT_EQ(time_of({.is_unattributed = true}), 1);
}

TEST(StepPartsTest, APartThatTheTraceLacksIsAnErrorThatNamesIt) {
  const auto message = [](const StepPart& part) {
    const auto spent = SpentOn(part, Attribution());
    EXPECT_EQ(spent.status().code(), absl::StatusCode::kNotFound);
    return std::string(spent.status().message());
  };
  EXPECT_THAT(message({Phase::kLoss, Component::kCrossEntropy}),
              HasSubstr("loss/cross_entropy"));
  EXPECT_THAT(message({.phase = Phase::kBackward, .layer = 3}),
              HasSubstr("backward/block/layer:3"));
  EXPECT_THAT(message({.phase = Phase::kBackward}), HasSubstr("backward/all"));
}

TEST(StepPartsTest, WhatIsNotListedBecomesUnattributed) {
  Attribution step;
  step.total_ns = 20;
  step.components[{Phase::kBackward, Component::kResidual}] = {
      .time_ns = 5, .calls = 2, .top_name = "copy", .top_calls = 2};
  step.components[{Phase::kBackward, Component::kFfn}] = {.time_ns = 14};
  step.phases[Phase::kBackward] = {.time_ns = 20};
  step.phases_unattributed[Phase::kBackward] = {.time_ns = 1, .calls = 1};
  step.unattributed = {.time_ns = 1, .calls = 1, .top_name = "detach"};
  RestrictTo(
      PartsOf(Step(StepMode::kTrainStep, AttentionKind::kNaive), kDeviceWork),
      step);
  EXPECT_EQ(step.components.size(), 1);
  EXPECT_EQ(step.unattributed.time_ns, 6);
  EXPECT_EQ(step.unattributed.calls, 3);
  EXPECT_EQ(step.unattributed.top_name, "copy");
  EXPECT_DOUBLE_EQ(step.unattributed_share(), 0.3);
  EXPECT_DOUBLE_EQ(step.unattributed_share(Phase::kBackward), 0.3);
  EXPECT_EQ(step.unattributed_share(Phase::kForward), 0);
}

}  // namespace
}  // namespace trainbench
