// SPDX-License-Identifier: MIT
// Attribution of real steps, on the CPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <map>
#include <set>
#include <string>

#include "fixtures/attribution.h"
#include "fixtures/profiler.h"
#include "fixtures/ranged_phases.h"
#include "model/accounting/flops.h"
#include "model/train_step.h"

namespace trainbench {
namespace {

struct Job {
  AttentionKind attention;
  Precision precision;
  StepMode mode;
};

constexpr int64_t kBatch = 2, kSeq = 32;

ModelConfig ConfigOf(const Job& job) {
  ModelConfig config = *FindModel("tiny", StandardModels());
  config.attention = job.attention;
  return config;
}

// The second step of the job: the first allocates and builds tables.
Trace TraceOf(const Job& job) {
  const ModelConfig config = ConfigOf(job);
  at::manual_seed(1);
  TransformerLm model(config,
                      at::TensorOptions().dtype(WeightType(job.precision)));
  AdamW optimizer(Parameters(model), AdamWKind::kFused);
  const Batch batch = RandomBatch(config.vocab, kBatch, kSeq, at::kCPU);
  const auto step = [&] {
    NullObserver nobody;
    RangedPhases phases(nobody);
    RunStep(job.mode, model, &optimizer, batch, job.precision, phases);
  };
  step();
  auto trace = Profile(Device(), step);
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.ok() ? *std::move(trace) : Trace();
}

double Flops(const Attribution& attribution, Phase phase) {
  const auto found = attribution.phases.find(phase);
  return found == attribution.phases.end() ? 0 : found->second.flops;
}

std::set<Component> ComponentsIn(const Attribution& attribution, Phase phase) {
  std::set<Component> components;
  for (const auto& [key, spent] : attribution.components) {
    if (key.first == phase) components.insert(key.second);
  }
  return components;
}

class StepAttributionTest : public ::testing::TestWithParam<StepMode> {};

TEST_P(StepAttributionTest, AlmostNothingIsUnattributed) {
  for (const AttentionKind attention :
       {AttentionKind::kNaive, AttentionKind::kSdpa}) {
    for (const Precision precision :
         {Precision::kFp32, Precision::kBf16Autocast}) {
      const Attribution result = Attribute(
          TraceOf({attention, precision, GetParam()}), TimeOf::kHostOps);
      EXPECT_LE(result.unattributed_share(), 0.02)
          << AttentionName(attention) << " " << PrecisionName(precision) << ": "
          << result.unattributed.top_name;
      EXPECT_GT(result.total_ns, 0);
      EXPECT_LE(result.total_ns, result.wall_ns);
    }
  }
}

TEST_P(StepAttributionTest, FlopsAreThoseOfTheFormulas) {
  const Job job = {AttentionKind::kNaive, Precision::kFp32, GetParam()};
  const ModelConfig config = ConfigOf(job);
  const Attribution result = Attribute(TraceOf(job), TimeOf::kHostOps);
  EXPECT_EQ(Flops(result, Phase::kForward), ForwardFlops(config, kBatch, kSeq));
  const bool has_backward = GetParam() == StepMode::kForwardBackward ||
                            GetParam() == StepMode::kTrainStep;
  EXPECT_EQ(Flops(result, Phase::kBackward),
            has_backward ? BackwardFlops(config, kBatch, kSeq) : 0);
  EXPECT_EQ(result.unattributed.flops, 0);
}

TEST_P(StepAttributionTest, TheOptimizerIsPartOfATrainStepOnly) {
  const Attribution result =
      Attribute(TraceOf({AttentionKind::kNaive, Precision::kFp32, GetParam()}),
                TimeOf::kHostOps);
  EXPECT_EQ(result.phases.contains(Phase::kOptimizer),
            GetParam() == StepMode::kTrainStep);
  EXPECT_EQ(
      result.components.contains({Phase::kOptimizer, Component::kOptimizer}),
      GetParam() == StepMode::kTrainStep);
}

INSTANTIATE_TEST_SUITE_P(Modes, StepAttributionTest,
                         ::testing::ValuesIn(kStepModes), [](const auto& mode) {
                           return std::string(StepModeName(mode.param));
                         });

TEST(WholeStepAttributionTest,
     TheBackwardPassHasTheComponentsOfTheForwardPass) {
  using enum Component;
  const Attribution naive = Attribute(
      TraceOf({AttentionKind::kNaive, Precision::kFp32, StepMode::kTrainStep}),
      TimeOf::kHostOps);
  std::set<Component> expected = {
      kEmbedding, kProjections,      kRope, kScores,   kSoftmax, kValue,
      kFfn,       kOutputProjection, kNorm, kResidual, kLmHead};
  EXPECT_EQ(ComponentsIn(naive, Phase::kForward), expected);
  expected.insert(kCrossEntropy);
  EXPECT_EQ(ComponentsIn(naive, Phase::kBackward), expected);
  EXPECT_EQ(ComponentsIn(naive, Phase::kLoss), std::set{kCrossEntropy});
}

TEST(WholeStepAttributionTest, EachProductsFlopsAreInItsComponent) {
  const Job job = {AttentionKind::kNaive, Precision::kFp32,
                   StepMode::kTrainStep};
  const ModelConfig c = ConfigOf(job);
  const Attribution result = Attribute(TraceOf(job), TimeOf::kHostOps);
  const double n = kBatch * kSeq;
  const auto d = static_cast<double>(c.d_model);
  const auto layers = static_cast<double>(c.layers);
  const std::map<Component, double> forward = {
      {Component::kProjections, 2 * n * 3 * d * d * layers},
      {Component::kOutputProjection, 2 * n * d * d * layers},
      {Component::kFfn, 2 * n * 3 * d * static_cast<double>(c.d_ff) * layers},
      {Component::kScores, 2 * n * kSeq * d * layers},
      {Component::kValue, 2 * n * kSeq * d * layers},
      {Component::kLmHead, 2 * n * d * static_cast<double>(c.vocab)},
      {Component::kSoftmax, 0}};
  for (const auto& [component, flops] : forward) {
    EXPECT_EQ(result.components.at({Phase::kForward, component}).flops, flops)
        << ComponentName(component);
    EXPECT_EQ(result.components.at({Phase::kBackward, component}).flops,
              2 * flops)
        << ComponentName(component);
  }
  for (int64_t i = 0; i < c.layers; ++i) {
    EXPECT_EQ(result.layers.at({Phase::kBackward, i}).flops,
              2 * result.layers.at({Phase::kForward, i}).flops);
    EXPECT_EQ(result.layers.at({Phase::kForward, i}).flops,
              result.layers.at({Phase::kForward, 0}).flops);
  }
}

}  // namespace
}  // namespace trainbench
