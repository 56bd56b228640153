// SPDX-License-Identifier: MIT

#include "model/nn/component.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <map>
#include <string>

#include "fixtures/profiling/profiler.h"
#include "model/training/train_step.h"

namespace trainbench {
namespace {

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

// Counts how often each scope opens in one train step.
std::map<std::string, int> ScopesOfAStep(AttentionKind kind) {
  TransformerLm model(ModelConfig{"m", 8, 16, 2, 2, 11, kind}, at::kFloat);
  AdamW optimizer(Parameters(model), AdamWKind::kFused);
  const Batch batch = RandomBatch(11, 2, 4, at::kCPU);
  const auto trace = Profile(Device(), [&] {
    RunStep(StepMode::kTrainStep, model, &optimizer, batch, Precision::kFp32);
  });
  std::map<std::string, int> scopes;
  if (!trace.ok()) return scopes;
  for (const TraceEvent& event : trace->events) {
    if (event.kind == TraceEvent::Kind::kRange) ++scopes[event.name];
  }
  return scopes;
}

TEST(ComponentTest, AStepOpensEachScopeAndOneForAFusedOperator) {
  std::map<std::string, int> expected = {
      {"embedding", 1}, {"layer_0", 1},     {"layer_1", 1},
      {"norm", 5},      {"rope", 4},        {"projections", 6},
      {"scores", 2},    {"softmax", 2},     {"value", 2},
      {"residual", 4},  {"ffn", 2},         {"output_projection", 2},
      {"lm_head", 1},   {"optimizer", 1},   {"cross_entropy", 1},
      {"attention", 2}, {"causal_mask", 2}, {"final_norm", 1}};
  EXPECT_EQ(ScopesOfAStep(AttentionKind::kNaive), expected);
  for (const char* part : {"scores", "softmax", "value", "causal_mask"}) {
    expected.erase(part);
  }
  expected["fused_attention"] = 2;
  EXPECT_EQ(ScopesOfAStep(AttentionKind::kSdpa), expected);
}

}  // namespace
}  // namespace trainbench
