// SPDX-License-Identifier: MIT

#include "model/accounting/traffic.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fixtures/memory/memory_probe.h"
#include "model/nn/dtype.h"
#include "model/training/adamw.h"
#include "model/training/precision_scope.h"
#include "model/training/train_step.h"

namespace trainbench {
namespace {

const ModelConfig& Config() {
  static const auto* const kConfig =
      new ModelConfig{"m", 64, 192, 2, 4, 256, AttentionKind::kNaive};
  return *kConfig;
}

StepParams Step(Precision precision, StepMode mode) {
  return {Config(), precision, mode, 2, 32};
}

// What a real model of that precision is made of, in bytes.
struct MeasuredTraffic {
  double parameters = 0;
  double candidates = 0;
  double logits = 0;
  double saved = 0;  // held between forward and backward, logits apart
};

MeasuredTraffic Measure(Precision precision) {
  at::manual_seed(1);
  const auto probe = MakeMemoryProbe(at::kCPU);
  TransformerLm model{nullptr};
  std::optional<AdamW> optimizer;
  at::Tensor logits;
  MeasuredTraffic bytes;
  double before = 0;
  const auto grown = [&] {
    const auto live = static_cast<double>(probe->LiveBytes());
    const double difference = live - before;
    before = live;
    return difference;
  };
  probe->Observe([&] {
    model = TransformerLm(Config(),
                          at::TensorOptions().dtype(WeightType(precision)));
  });
  bytes.parameters = grown();
  // The textbook kind has nothing but its moments.
  probe->Observe(
      [&] { optimizer.emplace(Parameters(model), AdamWKind::kTextbook); });
  bytes.candidates = grown();
  const Batch batch = RandomBatch(Config().vocab, 2, 32, at::kCPU);
  const auto forward = [&] {
    const AutocastScope autocast(precision, at::kCPU);
    logits = model(batch.tokens);
  };
  probe->Observe([&] {
    forward();  // makes the rotary tables
    logits.reset();
  });
  grown();
  probe->Observe(forward);
  bytes.logits = static_cast<double>(logits.nbytes());
  bytes.saved = grown() - bytes.logits;
  probe->Observe([&] { logits.reset(); });
  return bytes;
}

TEST(OptimizerBytesTest, AreSevenValuesPerParameterOfTheRealModel) {
  for (const Precision precision : kPrecisions) {
    const MeasuredTraffic bytes = Measure(precision);
    EXPECT_EQ(bytes.candidates, 2 * bytes.parameters)
        << PrecisionName(precision);
    // Read weight, gradient and moments, write weight and moments.
    const double expected =
        2 * bytes.parameters + 2 * bytes.candidates + bytes.parameters;
    EXPECT_EQ(OptimizerBytes(Config(), precision), expected)
        << PrecisionName(precision);
  }
}

TEST(OptimizerBytesTest, Are28BytesPerFp32ParameterOfTheLargestModel) {
  EXPECT_EQ(
      OptimizerBytes(*FindModel("2.7B", StandardModels()), Precision::kFp32),
      28.0 * 3'406'809'600);
}

TEST(StepBytesTest, PartsAreThoseOfTheRealModel) {
  for (const Precision precision : kPrecisions) {
    const MeasuredTraffic bytes = Measure(precision);
    const auto step = [&](StepMode mode) {
      const bool saves = mode != StepMode::kInference;
      return StepBytes(Step(precision, mode),
                       saves ? static_cast<int64_t>(bytes.saved) : 0);
    };
    const double inference = bytes.parameters + bytes.logits;
    EXPECT_EQ(step(StepMode::kInference), inference)
        << PrecisionName(precision);
    EXPECT_EQ(step(StepMode::kForward), inference + bytes.saved)
        << PrecisionName(precision);
    // The backward pass reads both and writes the gradients.
    EXPECT_EQ(step(StepMode::kForwardBackward) - step(StepMode::kForward),
              2 * bytes.parameters + bytes.saved)
        << PrecisionName(precision);
    EXPECT_EQ(step(StepMode::kTrainStep) - step(StepMode::kForwardBackward),
              7 * bytes.parameters)
        << PrecisionName(precision);
  }
}

}  // namespace
}  // namespace trainbench
