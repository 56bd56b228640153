// SPDX-License-Identifier: MIT
// Attribution of real steps, on the CPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "fixtures/attribution.h"
#include "fixtures/profiler.h"
#include "fixtures/ranged_phases.h"
#include "fixtures/step_parts.h"
#include "fixtures/trace_owners.h"
#include "model/accounting/flops.h"
#include "model/train_step.h"

namespace trainbench {
namespace {

struct Job {
  AttentionKind attention;
  Precision precision;
  StepMode mode;
  const char* model = "tiny";
};

constexpr int64_t kBatch = 2, kSeq = 32;

ModelConfig ConfigOf(const Job& job) {
  ModelConfig config = *FindModel(job.model, StandardModels());
  config.attention = job.attention;
  return config;
}

StepParams StepOf(const Job& job) {
  return {ConfigOf(job), job.precision, job.mode, kBatch, kSeq};
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

TEST_P(StepAttributionTest, FusedAttentionsFlopsAreAddedByTheFormula) {
  const Job job = {AttentionKind::kSdpa, Precision::kFp32, GetParam()};
  const ModelConfig config = ConfigOf(job);
  Attribution result = Attribute(TraceOf(job), TimeOf::kHostOps);
  EXPECT_LT(Flops(result, Phase::kForward), ForwardFlops(config, kBatch, kSeq));
  AddFusedAttentionFlops(StepOf(job), result);
  EXPECT_EQ(Flops(result, Phase::kForward), ForwardFlops(config, kBatch, kSeq));
  const double whole = StepFlops(config, kBatch, kSeq, GetParam());
  EXPECT_EQ(result.step.flops, whole);
  double in_layers = 0;
  for (const auto& [key, spent] : result.layers) in_layers += spent.flops;
  const double head = whole / ForwardFlops(config, kBatch, kSeq) * 2 * kBatch *
                      kSeq * static_cast<double>(config.vocab * config.d_model);
  EXPECT_EQ(in_layers, whole - head);
}

TEST_P(StepAttributionTest, SmallIsToldApartLikeTiny) {
  const Job job = {AttentionKind::kNaive, Precision::kFp32, GetParam(),
                   "small"};
  const Attribution result = Attribute(TraceOf(job), TimeOf::kHostOps);
  EXPECT_LE(result.unattributed_share(), 0.02);
  EXPECT_EQ(Flops(result, Phase::kForward),
            ForwardFlops(ConfigOf(job), kBatch, kSeq));
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

// What the rows of a table are named after is what a trace of the step holds.
TEST_P(StepAttributionTest, ThePartsAreThoseThatWereForetold) {
  for (const AttentionKind attention :
       {AttentionKind::kNaive, AttentionKind::kSdpa}) {
    const Job job = {attention, Precision::kFp32, GetParam()};
    Attribution result = Attribute(TraceOf(job), TimeOf::kHostOps);
    const std::vector<StepPart> parts = PartsOf(StepOf(job), TimeOf::kHostOps);
    const bool has_backward = result.phases.contains(Phase::kBackward);
    EXPECT_EQ(result.unattributed.time_ns > 0,
              GetParam() != StepMode::kInference);
    EXPECT_EQ(parts.size(), 1 + has_backward + result.components.size() +
                                result.phases.size() + result.layers.size());
    for (const StepPart& part : parts) {
      const auto spent = SpentOn(part, result);
      EXPECT_TRUE(spent.ok()) << spent.status();
    }
    const int64_t unattributed_ns = result.unattributed.time_ns;
    RestrictTo(parts, result);
    EXPECT_EQ(result.unattributed.time_ns, unattributed_ns);
  }
}

// No GPU is needed to see whether the device would have work: on the CPU, an
// operator runs inside the node.
TEST(StepPartsTest, OnADeviceTheResidualsGradientCostsOnlyAutocastACast) {
  for (const Precision precision :
       {Precision::kFp32, Precision::kBf16Autocast, Precision::kBf16}) {
    const Job job = {AttentionKind::kNaive, precision, StepMode::kTrainStep};
    const Trace trace = TraceOf(job);
    const std::vector<Owner> owners = FindOwners(trace);
    bool works = false;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      works |= owners[i].phase == Phase::kBackward &&
               owners[i].component == Component::kResidual &&
               (trace.events[i].name == "aten::copy_" ||
                trace.events[i].name == "aten::add_" ||
                trace.events[i].name == "aten::add");
    }
    const auto parts = PartsOf(StepOf(job), TimeOf::kDeviceWork);
    const bool listed =
        std::any_of(parts.begin(), parts.end(), [](const StepPart& part) {
          return part.phase == Phase::kBackward &&
                 part.component == Component::kResidual;
        });
    EXPECT_EQ(listed, works) << PrecisionName(precision);
  }
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
