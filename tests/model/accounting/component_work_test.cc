// SPDX-License-Identifier: MIT

#include "model/accounting/component_work.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "model/accounting/flops.h"
#include "model/accounting/traffic.h"
#include "model/spec/precision.h"

namespace trainbench {
namespace {

constexpr SavedBytes kSomeSaved = {.attention = 3000, .ffn = 500, .head = 70};

StepParams Small(Precision precision, StepMode mode) {
  return {*FindModel("small", StandardModels()), precision, mode, 4, 128};
}

std::map<std::string, ComponentWork> ByName(const StepParams& step,
                                            const SavedBytes& saved) {
  std::map<std::string, ComponentWork> work;
  for (const ComponentWork& part : StepComponents(step, saved)) {
    work[part.name] = part;
  }
  return work;
}

TEST(ComponentWorkTest, AddsUpToTheStep) {
  for (const Precision precision : kPrecisions) {
    for (const StepMode mode : kStepModes) {
      for (const char* checkpoint : {"none", "attention", "every_5"}) {
        StepParams step = Small(precision, mode);
        step.model.checkpointing = *ParseCheckpointing(checkpoint);
        double flops = 0, bytes = 0;
        for (const ComponentWork& part : StepComponents(step, kSomeSaved)) {
          flops += part.flops;
          bytes += part.bytes;
        }
        EXPECT_EQ(flops, StepFlops(step.model, step.batch, step.seq, mode));
        EXPECT_EQ(bytes, StepBytes(step, kSomeSaved.all()))
            << PrecisionName(precision) << " " << StepModeName(mode) << " "
            << checkpoint;
      }
    }
  }
}

// small: 12 blocks, d 768, ff 3072, 10000 tokens in the vocabulary.
TEST(ComponentWorkTest, EachComponentHasItsMatrices) {
  const auto work = ByName(Small(Precision::kFp32, StepMode::kInference), {});
  const double tokens = 4 * 128, d = 768;
  EXPECT_EQ(work.at("ffn").flops, 2 * tokens * 12 * 3 * d * 3072);
  EXPECT_EQ(work.at("attention").flops,
            12 * (2 * tokens * 4 * d * d + 4 * tokens * 128 * d));
  EXPECT_EQ(work.at("head").flops, 2 * tokens * 10000 * d);
  EXPECT_EQ(work.at("ffn").bytes, 4 * 12 * (3 * d * 3072 + d));
  EXPECT_EQ(work.at("head").bytes, 4 * (10000 * d + d + tokens * 10000));
  EXPECT_EQ(work.count("optimizer"), 0);
}

TEST(ComponentWorkTest, RecomputedBlocksReadTheirWeightsAgain) {
  StepParams step = Small(Precision::kFp32, StepMode::kForwardBackward);
  step.model.checkpointing = {Checkpointing::Kind::kBlocks, 3};
  const auto work = ByName(step, {.attention = 1000});
  const double d = 768;
  const double ffn = 4 * 12 * (3 * d * 3072 + d),
               attention = 4 * 12 * (4 * d * d + d);
  // Forward, backward, gradients, and once more.
  EXPECT_EQ(work.at("ffn").bytes, 4 * ffn);
  EXPECT_EQ(work.at("attention").bytes, 4 * attention + 2 * 1000);
}

TEST(ComponentWorkTest, OnlyTheOptimizerMultipliesNothing) {
  const auto work = ByName(Small(Precision::kFp32, StepMode::kTrainStep), {});
  EXPECT_EQ(work.at("embedding").flops, 0);
  EXPECT_EQ(work.at("optimizer").flops, 0);
  EXPECT_EQ(
      work.at("optimizer").bytes,
      OptimizerBytes(*FindModel("small", StandardModels()), Precision::kFp32));
}

}  // namespace
}  // namespace trainbench
