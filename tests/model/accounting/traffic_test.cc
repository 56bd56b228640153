// SPDX-License-Identifier: MIT

#include "model/accounting/traffic.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>

#include "model/accounting/parameters.h"
#include "model/dry_run/dry_run.h"
#include "model/nn/autocast.h"
#include "model/nn/dtype.h"
#include "model/training/adamw.h"
#include "model/training/train_step.h"

namespace trainbench {
namespace {

StepParams StepOf(Precision precision, StepMode mode) {
  return {{"m", 64, 192, 2, 4, 256}, precision, mode, 2, 32};
}

TransformerLm ModelOf(const StepParams& step) {
  return TransformerLm(step.model, at::dtype(WeightType(step.precision)));
}

// The kernel also counts its calls, 4 bytes for each tensor.
TEST(OptimizerBytesTest, AreThoseOfTheFusedUpdate) {
  for (const Precision precision : kPrecisions) {
    const StepParams step = StepOf(precision, StepMode::kTrainStep);
    double moved = 0;
    const DryRun dry([&](const DryOperator& op) {
      if (op.name == "aten::_fused_adamw_") moved += op.bytes;
    });
    const TransformerLm model = ModelOf(step);
    AdamW optimizer(Parameters(model), AdamWKind::kFused);
    RandomizeGradients(model);
    optimizer.Step();
    const int64_t counts = 4 * ParameterTensorCount(step.model);
    EXPECT_EQ(OptimizerBytes(step.model, precision),
              moved - static_cast<double>(counts))
        << PrecisionName(precision);
  }
}

TEST(StepBytesTest, AreParametersLogitsAndWhatIsSaved) {
  constexpr int64_t kSaved = 1'000'000;
  for (const Precision precision : kPrecisions) {
    const auto bytes = [&](StepMode mode, int64_t saved) {
      return StepBytes(StepOf(precision, mode), saved);
    };
    const StepParams step = StepOf(precision, StepMode::kForward);
    const DryRun dry;
    const AutocastScope autocast(precision, at::kCPU);
    const Batch batch = RandomBatch(256, 2, 32, at::kCPU);
    const auto logits =
        static_cast<double>(ModelOf(step)(batch.tokens).nbytes());
    EXPECT_EQ(LogitBytes(step), logits);
    EXPECT_EQ(ResidualBytes(step),
              2 * 32 * 64 * BitsOf(WeightType(precision)) / 8);
    const auto parameters =
        static_cast<double>(ParameterBytes(step.model, precision));
    // 64 tokens read at most 64 of 256 rows.
    const double table = 256 * ResidualBytes(step) / 64.0;
    const double read = parameters - table * 192 / 256;
    EXPECT_EQ(bytes(StepMode::kInference, 0), read + logits);
    const double forward = bytes(StepMode::kForward, kSaved);
    EXPECT_EQ(forward, read + logits + kSaved);
    // The backward pass reads both and writes the gradients.
    const double backward = bytes(StepMode::kForwardBackward, kSaved);
    EXPECT_EQ(backward, forward + 2 * parameters - table + kSaved);
    EXPECT_EQ(bytes(StepMode::kTrainStep, kSaved), backward + 7 * parameters);
  }
}

TEST(StepBytesTest, NoneAreOfRowsThatNoTokenReads) {
  const StepParams wide = StepOf(Precision::kFp32, StepMode::kForwardBackward);
  const auto added = [&](auto change) {
    StepParams step = wide;
    change(step);
    return StepBytes(step, 0) - StepBytes(wide, 0);
  };
  const double row = 4 * 64;
  // Head and gradients grow by 64 rows each, the head's twice; the logits too.
  EXPECT_EQ(added([](StepParams& step) { step.model.vocab += 64; }),
            64 * (2 + 2) * row + 4 * 64 * 64.0);
  // A tied table is the head's, but saves the gradient of a second table.
  EXPECT_EQ(added([](StepParams& step) { step.model.tied_embeddings = true; }),
            -(64 + 256) * row);
  // 32 of 100 positions are read, and all have gradients.
  EXPECT_EQ(added([](StepParams& step) {
              step.model.positions = Positions::kLearned;
              step.model.context = 100;
            }),
            (32 + 100) * row);
}

}  // namespace
}  // namespace trainbench
