// SPDX-License-Identifier: MIT

#include "model/accounting/flops.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "fixtures/device/device.h"
#include "fixtures/profiling/attribution.h"
#include "fixtures/profiling/profiler.h"
#include "fixtures/profiling/profiler_ranges.h"
#include "fixtures/profiling/trace_attribution.h"
#include "model/accounting/parameters.h"
#include "model/dry_run/dry_run.h"
#include "model/spec/named_models.h"
#include "model/training/train_step.h"
#include "tests/support/architectures.h"

namespace trainbench {
namespace {

struct Case {
  ModelConfig config;
  int64_t batch, seq;
};

std::vector<Case> Cases() {
  return {
      {{"even", 32, 64, 2, 4, 64}, 2, 8},
      {{"odd", 18, 29, 3, 3, 37}, 2, 7},        // d_head 6, vocab prime
      {{"token", 18, 29, 2, 3, 37}, 1, 1},      // one token
      {{"batch", 20, 12, 1, 1, 101}, 5, 1},     // one position
      {{"long", 8, 11, 2, 4, 13}, 1, 65},       // seq larger than every width
      {{"narrow", 2, 1, 1, 1, 2}, 3, 3},        // the smallest model
      {{"wide", 48, 1000, 1, 2, 1009}, 1, 11},  // ff and vocab > d_model
      {Shared({"grouped", 36, 29, 2, 6, 37}), 2, 7},
      {Gpt({"gpt", 18, 29, 2, 3, 37}), 2, 7},
      {Biased({"biased", 18, 29, 2, 3, 37}), 2, 7},
      {GateBiased({"gate", 18, 29, 2, 3, 37}), 2, 7},
  };
}

// 2 * 4 * 512 tokens times 32 (4 * 2560^2 + 3 * 2560 * 10240) + 10000 * 2560
// weights, and 32 layers times 4 * 4 * 512^2 * 2560 for the scores.
TEST(FlopsTest, OfALargeModelAndALargeSweep) {
  const ModelConfig config = *FindModel("2.7B", StandardModels());
  EXPECT_EQ(ForwardFlops(config, 4, 512),
            4096.0 * 3'381'043'200 + 32.0 * 16 * 262'144 * 2560);
  // Beyond 2^63, where an integer would overflow, seq enters squared.
  const double half = ForwardFlops(config, 64, int64_t{1} << 19);
  const double whole = ForwardFlops(config, 64, int64_t{1} << 20);
  EXPECT_GT(whole, 1e19);
  EXPECT_GT(whole, 3.9 * half);
  EXPECT_LT(whole, 4 * half);
}

// Those of recomputation are in step_attribution_test.cc.
TEST(FlopsTest, OfEachComponentEqualTheProfilers) {
  for (const Case& c : Cases()) {
    at::manual_seed(1);
    TransformerLm model(c.config, at::TensorOptions().dtype(at::kFloat));
    const Batch batch = RandomBatch(c.config.vocab, c.batch, c.seq, at::kCPU);
    for (const StepMode mode :
         {StepMode::kInference, StepMode::kForwardBackward}) {
      const Trace trace =
          Profile(Device(), [&] {
            PhaseRanges phases(NoObserver());
            RunStep(mode, model, nullptr, batch, Precision::kFp32, phases);
          }).value();
      std::map<Component, double> profiled, predicted;
      for (const auto& [part, share] :
           Attribute(trace, TimeOf::kHostOps).parts) {
        if (!part.is_component() || share.flops == 0) continue;
        profiled[*part.component] += share.flops;
      }
      for (const ComponentFlops& part :
           FlopsByComponent(c.config, c.batch, c.seq, mode)) {
        predicted[part.component] = part.flops;
      }
      EXPECT_EQ(predicted, profiled) << c.config.name;
    }
  }
}

// Counts the operators of an update, each with its operations per element. A
// sum with a factor counts as two.
TEST(AdamWFlopsTest, AreThoseOfTheOperatorsOfATextbookUpdate) {
  const std::map<std::string_view, double> operations = {
      {"aten::mul", 1},      {"aten::add_", 1.5},  // one of two has a factor
      {"aten::addcmul_", 3}, {"aten::sqrt", 1},
      {"aten::div_", 1},     {"aten::addcdiv_", 3}};
  double sum = 0;
  const DryRun dry([&](const DryOperator& op) {
    const auto known = operations.find(op.name);
    if (known != operations.end()) sum += known->second;
  });
  const ModelConfig config = {"m", 18, 29, 3, 3, 37};
  const TransformerLm model(config, at::TensorOptions().dtype(at::kFloat));
  AdamW optimizer(Parameters(model), AdamWKind::kTextbook);
  RandomizeGradients(model);
  sum = 0;
  optimizer.Step();
  const double each = sum / static_cast<double>(ParameterTensorCount(config));
  EXPECT_EQ(AdamWFlops(config),
            each * static_cast<double>(ParameterCount(config)));
}

}  // namespace
}  // namespace trainbench
