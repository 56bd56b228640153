// SPDX-License-Identifier: MIT
// Predictions of memory where no allocator can follow.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/accounting/memory.h"
#include "model/spec/config.h"

namespace trainbench {
namespace {

ModelConfig Largest() { return *FindModel("2.7B", StandardModels()); }

int64_t PeakBytes(const MemoryQuery& query) {
  return EstimateMemory(query).peak.bytes;
}

TEST(SavedBytesTest, GrowByTheSameWithEveryBlock) {
  for (const Precision precision : kPrecisions) {
    MemoryQuery query = {{"m", 64, 192, 1, 4, 256}, 2, 32, precision};
    const int64_t one = SavedBytes(query);
    for (const int64_t layers : {2, 5}) {
      query.config.layers = layers;
      EXPECT_EQ(SavedBytes(query),
                one + (layers - 1) * SavedBytesPerBlock(query));
    }
  }
}

TEST(EstimateMemoryTest, HasThePartsThatTheModeHas) {
  // Autocast keeps copies of the weights of five blocks until the pass is over.
  const ModelConfig config = {"m", 24, 40, 5, 3, 37};
  for (const StepMode mode : kStepModes) {
    const MemoryQuery query = {config, 2, 5, Precision::kBf16Autocast, mode};
    const MemoryEstimate estimate = EstimateMemory(query);
    const bool backward =
        mode == StepMode::kForwardBackward || mode == StepMode::kTrainStep;
    EXPECT_EQ(estimate.gradient_bytes, backward ? estimate.parameter_bytes : 0);
    EXPECT_EQ(estimate.saved_bytes,
              mode == StepMode::kInference ? 0 : SavedBytes(query));
    EXPECT_EQ(estimate.optimizer_bytes > 0, mode == StepMode::kTrainStep);
    int64_t highest = 0;
    for (const PeakCandidate& candidate : estimate.candidates) {
      highest = std::max(highest, candidate.bytes);
    }
    EXPECT_EQ(estimate.peak.bytes, highest);
  }
}

TEST(EstimateMemoryTest, ThePeakKnowsItsMomentAndItsLargestTensor) {
  const auto estimate = [](int64_t seq, int64_t vocab) {
    return EstimateMemory({{"m", 32, 96, 2, 4, vocab}, 2, seq});
  };
  const MemoryEstimate scores = estimate(256, 512);
  EXPECT_EQ(scores.peak.name, "softmax backward of the last block");
  EXPECT_EQ(scores.largest_at_peak_bytes, 4 * 2 * 4 * 256 * 256);
  const MemoryEstimate logits = estimate(32, 8000);
  EXPECT_EQ(logits.peak.name, "loss backward");
  EXPECT_EQ(logits.largest_at_peak, "logits - maxima");
  EXPECT_EQ(logits.largest_at_peak_bytes, 4 * 2 * 32 * 8000);
}

TEST(EstimateMemoryTest, ALaterModeNeverNeedsLess) {
  for (const ModelConfig& config : StandardModels()) {
    for (const Precision precision : kPrecisions) {
      int64_t before = 0;
      for (const StepMode mode : kStepModes) {
        const int64_t peak = PeakBytes({config, 4, 512, precision, mode});
        EXPECT_GE(peak, before) << config.name << " " << StepModeName(mode);
        before = peak;
      }
    }
  }
}

TEST(EstimateMemoryTest, OnAGpuOnlySdpaInFp32DiffersFromACpu) {
  for (const auto kind : {AttentionKind::kNaive, AttentionKind::kSdpa}) {
    for (const Precision precision : kPrecisions) {
      const MemoryQuery cpu = {
          {"m", 64, 192, 3, 4, 256, kind}, 2, 32, precision};
      MemoryQuery gpu = cpu;
      gpu.on_gpu = true;
      const bool wide =
          precision == Precision::kFp32 || precision == Precision::kTf32;
      const int64_t merged = 4 * 2 * 32 * 64;
      EXPECT_EQ(SavedBytes(cpu) - SavedBytes(gpu),
                kind == AttentionKind::kSdpa && wide ? 3 * merged : 0)
          << AttentionName(kind) << " " << PrecisionName(precision);
    }
  }
}

TEST(LargestProductTest, IsThatOfTheShape) {
  MemoryQuery query = {{"m", 64, 192, 1, 4, 256}, 2, 32};
  EXPECT_EQ(LargestProductElements(query, 1), 256 * 64);  // the head's gradient
  query.config.vocab = 8;
  EXPECT_EQ(LargestProductElements(query, 1), 192 * 64);  // hidden, gradients
  query.batch = 8;
  query.config.vocab = 1000;
  EXPECT_EQ(LargestProductElements(query, 1), 8 * 32 * 1000);  // logits
  query.seq = 4096;
  EXPECT_EQ(LargestProductElements(query, 1), 8 * 4096 * 1000);
  EXPECT_EQ(LargestProductElements(query, 16), 16 * 4096 * 4096);  // scores
  EXPECT_EQ(LargestProductElements(query, 64), 32 * 4096 * 4096);
}

TEST(EstimateMemoryTest, TheLargestModelTakes65GiB) {
  const double gib = std::pow(2.0, 30);
  EXPECT_NEAR(static_cast<double>(PeakBytes({Largest(), 4, 512})) / gib, 65,
              0.02 * 65);
}

TEST(LargestSeqTest, FitsAndOneMoreDoesNot) {
  for (const ModelConfig& config : StandardModels()) {
    for (const Precision precision : kPrecisions) {
      for (const StepMode mode : kStepModes) {
        MemoryQuery query = {config, 2, 1, precision, mode};
        const int64_t budget = PeakBytes(query) + (int64_t{3} << 30);
        query.seq = LargestSeq(query, budget);
        ASSERT_GE(query.seq, 1) << config.name;
        EXPECT_LE(PeakBytes(query), budget) << config.name;
        ++query.seq;
        EXPECT_GT(PeakBytes(query), budget) << config.name;
      }
    }
  }
}

TEST(LargestSeqTest, IsZeroWhenNothingFitsAndTheCapWhenEverythingDoes) {
  const MemoryQuery query = {{"m", 2, 1, 1, 1, 1}, 1, 1};
  const int64_t least = PeakBytes(query);
  EXPECT_EQ(LargestSeq(query, 0), 0);
  EXPECT_EQ(LargestSeq(query, least - 1), 0);
  EXPECT_EQ(LargestSeq(query, least), 1);
  EXPECT_EQ(LargestSeq(query, int64_t{1} << 60), int64_t{1} << 20);
}

TEST(LargestBatchTest, FitsAndOneMoreDoesNotAndGrowsWithWhatIsRecomputed) {
  MemoryQuery query = {Largest(), 1, 512};
  const int64_t budget = int64_t{80} << 30;
  int64_t before = 0;
  for (const char* checkpoint : {"none", "attention", "every_4", "every_1"}) {
    query.config.checkpointing = *ParseCheckpointing(checkpoint);
    query.batch = LargestBatch(query, budget);
    EXPECT_GT(query.batch, before) << checkpoint;
    EXPECT_LE(PeakBytes(query), budget) << checkpoint;
    before = query.batch++;
    EXPECT_GT(PeakBytes(query), budget) << checkpoint;
  }
}

// Sizes that Validate() allows and no machine could hold.
TEST(LargestSeqTest, BytesBeyondAnIntegerFitNoBudget) {
  const int64_t size = int64_t{1} << 20;
  const MemoryQuery query = {
      {"m", size, size, size, size / 2, int64_t{1} << 24}, size, size};
  ASSERT_TRUE(Validate(query.config).ok());
  EXPECT_GT(PeakBytes(query), int64_t{1} << 60);
  EXPECT_EQ(LargestSeq(query, int64_t{1} << 60), 0);
}

// The bytes of the longest sequence would exceed an integer here.
TEST(LargestSeqTest, IsRightForALargeBatchToo) {
  for (const ModelConfig& config : StandardModels()) {
    MemoryQuery query = {config, 50'000, 1, Precision::kFp32,
                         StepMode::kForward};
    const int64_t budget = 2 * PeakBytes(query);
    query.seq = LargestSeq(query, budget);
    ASSERT_GE(query.seq, 1) << config.name;
    ASSERT_LE(query.seq, 4) << config.name;
    EXPECT_LE(PeakBytes(query), budget) << config.name;
    ++query.seq;
    EXPECT_GT(PeakBytes(query), budget) << config.name;
  }
}

MemoryEstimate Moments() {
  MemoryEstimate estimate;
  estimate.gradient_bytes = 100;
  estimate.candidates = {
      {"loss", 500, 0}, {"middle", 520, 60}, {"end", 560, 100}};
  return estimate;
}

TEST(GradientBufferTest, ABufferForAllIsThereBeforeThem) {
  EXPECT_EQ(PeakWithGradientBuffer(Moments(), 100), 600);
  // Padding counts.
  EXPECT_EQ(PeakWithGradientBuffer(Moments(), 104), 604);
}

TEST(GradientBufferTest, WithoutOneThePeakIsTheOldOne) {
  EXPECT_EQ(PeakWithGradientBuffer(Moments(), 0), 560);
}

TEST(GradientBufferTest, OnlyWhatHasAPlaceMovesThere) {
  // Of 60 gradients in the middle, 50 have none: 520 - 10 + 50; at the end
  // 560 - 50 + 50.
  EXPECT_EQ(PeakWithGradientBuffer(Moments(), 50), 560);
  EXPECT_EQ(PeakWithGradientBuffer(Moments(), 80), 580);
}

}  // namespace
}  // namespace trainbench
