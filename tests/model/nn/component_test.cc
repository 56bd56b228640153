// SPDX-License-Identifier: MIT

#include "model/nn/component.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <map>
#include <string>

#include "fixtures/profiling/profiler.h"
#include "model/training/train_step.h"

namespace trainbench {
namespace {

using ::testing::IsSupersetOf;

TEST(ComponentTest, LayerNamesParse) {
  for (const int64_t layer : {0, 7, 31}) {
    const std::string name = LayerScopeName(static_cast<std::size_t>(layer));
    EXPECT_EQ(ParseLayerScope(name), layer);
  }
  EXPECT_EQ(LayerScopeName(3), "layer_3");
  for (const char* other : {"layer_", "layer", "layer_x", "layer_-1", "ffn"}) {
    EXPECT_EQ(ParseLayerScope(other), std::nullopt) << other;
  }
}

struct Model {
  explicit Model(AttentionKind kind)
      : lm(ModelConfig{.name = "test",
                       .d_model = 8,
                       .d_ff = 16,
                       .layers = 2,
                       .heads = 2,
                       .vocab = 11,
                       .attention = kind},
           at::TensorOptions()),
        optimizer(Parameters(lm), AdamWKind::kFused),
        batch(RandomBatch(11, 2, 4, at::kCPU)) {}

  at::Tensor Step() {
    return RunStep(StepMode::kTrainStep, lm, &optimizer, batch,
                   Precision::kFp32, NoObserver());
  }

  TransformerLm lm;
  AdamW optimizer;
  Batch batch;
};

// Counts how often each scope opens in one train step.
std::map<std::string, int> ScopesOfAStep(AttentionKind kind) {
  Model model(kind);
  const auto trace = Profile(Device(), [&] { model.Step(); });
  std::map<std::string, int> scopes;
  if (!trace.ok()) return scopes;
  for (const TraceEvent& event : trace->events) {
    if (event.kind == TraceEvent::Kind::kRange) ++scopes[event.name];
  }
  return scopes;
}

TEST(ComponentTest, AStepOfANaiveModelOpensEachScope) {
  const std::map<std::string, int> expected = {
      {"embedding", 1}, {"layer_0", 1},     {"layer_1", 1},
      {"norm", 5},      {"rope", 4},        {"projections", 6},
      {"scores", 2},    {"softmax", 2},     {"value", 2},
      {"residual", 4},  {"ffn", 2},         {"output_projection", 2},
      {"lm_head", 1},   {"optimizer", 1},   {"cross_entropy", 1},
      {"attention", 2}, {"causal_mask", 2}, {"final_norm", 1}};
  EXPECT_EQ(ScopesOfAStep(AttentionKind::kNaive), expected);
}

TEST(ComponentTest, AnSdpaModelHasOneScopeForTheFusedOperator) {
  const auto scopes = ScopesOfAStep(AttentionKind::kSdpa);
  EXPECT_THAT(
      scopes,
      IsSupersetOf({std::pair<const std::string, int>{"fused_attention", 2}}));
  for (const char* absent : {"scores", "softmax", "value", "causal_mask"}) {
    EXPECT_FALSE(scopes.contains(absent)) << absent;
  }
}

TEST(ComponentTest, BeingWatchedChangesNoResult) {
  for (const AttentionKind kind :
       {AttentionKind::kNaive, AttentionKind::kSdpa}) {
    at::manual_seed(3);
    Model alone(kind);
    at::manual_seed(3);
    Model watched(kind);
    const at::Tensor loss = alone.Step();
    at::Tensor watched_loss;
    ASSERT_TRUE(Profile(Device(), [&] { watched_loss = watched.Step(); }).ok());
    EXPECT_TRUE(at::equal(loss, watched_loss));
    for (std::size_t i = 0; i < Parameters(alone.lm).size(); ++i) {
      EXPECT_TRUE(
          at::equal(Parameters(alone.lm)[i], Parameters(watched.lm)[i]));
    }
  }
}

}  // namespace
}  // namespace trainbench
