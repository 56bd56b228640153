// SPDX-License-Identifier: MIT

#include "model/accounting/parallel/sharded_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace trainbench {
namespace {

using testing::HasSubstr;

constexpr double kGib = 1 << 30;

// The XXL model on a TPU v5p, 16 x 4 devices.
ShardedJob SmallShardedJob() {
  return {.d_model = 16384,
          .d_ff = 53248,
          .blocks = 126,
          .flops_per_second = 4.6e14,
          .link_bytes_per_second = 2 * 9e10,
          .fsdp = 16,
          .tensor = 4,
          .fsdp_axes = 2,
          .tensor_axes = 1};
}

TEST(ShardedJobTest, StateOfTheAssignment) {
  EXPECT_EQ(ShardedJobParams(SmallShardedJob()), 219'848'638'464.0);
  EXPECT_EQ(std::round(StateBytes(SmallShardedJob()) / 1e8), 35'176);
  EXPECT_EQ(std::round(StateBytes(SmallShardedJob()) / kGib), 3276);
  EXPECT_EQ(SavedBytesPerToken(SmallShardedJob()), 17'547'264);
}

TEST(ShardedJobTest, AGpuOf80GbIsNotOneOf80e9Bytes) {
  EXPECT_EQ(DevicesToHold(StateBytes(SmallShardedJob()), 80e9), 44);
  EXPECT_EQ(DevicesToHold(StateBytes(SmallShardedJob()), 80 * kGib), 41);
}

TEST(ShardedJobTest, FewestDevicesOfTheAssignment) {
  EXPECT_EQ(FewestFsdpDevices(SmallShardedJob(), 0, 95e9), 38);
}

TEST(ShardedJobTest, OneDeviceLessDoesNotFit) {
  for (const double tokens : {0.0, 1.0, 2048.0, 10'000.0}) {
    const auto devices = FewestFsdpDevices(SmallShardedJob(), tokens, 95e9);
    ASSERT_TRUE(devices.has_value());
    EXPECT_LT(FsdpDeviceBytes(SmallShardedJob(), tokens, *devices), 95e9);
    EXPECT_GE(FsdpDeviceBytes(SmallShardedJob(), tokens, *devices - 1), 95e9);
  }
  // Half of these tokens' activations is 95e9 bytes.
  EXPECT_FALSE(
      FewestFsdpDevices(SmallShardedJob(), 2 * 95e9 / 17'547'264, 95e9));
}

TEST(ShardedJobTest, BelowMeansBelow) {
  // 16 bytes on 4 devices are 4 bytes each, which is not below 4.
  const ShardedJob job = {
      .d_model = 1, .d_ff = 1, .blocks = 1, .state_bytes_per_param = 8};
  EXPECT_EQ(FewestFsdpDevices(job, 0, 4), 5);
}

TEST(ShardedJobTest, BatchOfTheAssignment) {
  EXPECT_NEAR(LargestTensorSplit(SmallShardedJob()), 20.8, 0.05);
  const auto overlapped = ComputeBoundTokens(SmallShardedJob(), true);
  ASSERT_TRUE(overlapped.has_value());
  EXPECT_EQ(std::floor(*overlapped), 20'444);
  EXPECT_EQ(std::floor(*overlapped / 64), 319);
  const auto serial = ComputeBoundTokens(SmallShardedJob(), false);
  ASSERT_TRUE(serial.has_value());
  EXPECT_EQ(std::floor(*serial), 25'301);
  EXPECT_EQ(std::floor(*serial / 64), 395);
}

// The definition behind the bounds: whether one block on X Y devices computes
// for longer than it communicates.
bool IsComputeBound(const ShardedJob& job, double tokens, bool overlap) {
  const double link = job.link_bytes_per_second;
  const double compute = 4 * tokens * job.d_model * job.d_ff /
                         (job.fsdp * job.tensor * job.flops_per_second);
  const double weights = 2 * job.value_bytes * job.d_model * job.d_ff /
                         (job.tensor * link * job.fsdp_axes);
  const double activations = 2 * job.value_bytes * tokens * job.d_model /
                             (job.fsdp * link * job.tensor_axes);
  return compute >
         (overlap ? std::max(weights, activations) : weights + activations);
}

TEST(ShardedJobTest, OneTokenMoreIsComputeBound) {
  for (const bool overlap : {true, false}) {
    const double bound =
        std::floor(*ComputeBoundTokens(SmallShardedJob(), overlap));
    EXPECT_FALSE(IsComputeBound(SmallShardedJob(), bound, overlap)) << overlap;
    EXPECT_TRUE(IsComputeBound(SmallShardedJob(), bound + 1, overlap))
        << overlap;
  }
}

TEST(ShardedJobTest, NoBatchHelpsTooManyTensorRanks) {
  ShardedJob job = SmallShardedJob();
  job.tensor = 21;
  EXPECT_FALSE(ComputeBoundTokens(job, true));
  EXPECT_FALSE(ComputeBoundTokens(job, false));
  EXPECT_FALSE(IsComputeBound(job, 1e12, true));
  job.tensor = 20;
  EXPECT_TRUE(ComputeBoundTokens(job, false));
}

TEST(BatchReductionsTest, EachLowersTheBatch) {
  std::vector<double> tokens;
  for (const BatchReduction& way : BatchReductions(SmallShardedJob())) {
    const auto bound = ComputeBoundTokens(way.job, true);
    ASSERT_TRUE(bound.has_value()) << way.what;
    tokens.push_back(std::floor(*bound));
  }
  // A quarter, a half and a half of 20,444.4.
  EXPECT_THAT(tokens, testing::ElementsAre(5111, 10'222, 10'222));
  EXPECT_THAT(BatchReductions(SmallShardedJob())[0].what,
              HasSubstr("X = 4, Y = 16"));
  EXPECT_THAT(BatchReductions(SmallShardedJob())[1].what, HasSubstr("8 bits"));
}

TEST(BatchReductionsTest, ListsOnlyPossibleChanges) {
  ShardedJob job = SmallShardedJob();
  job.fsdp = 1;  // cannot be halved
  for (const BatchReduction& way : BatchReductions(job)) {
    EXPECT_THAT(way.what, testing::Not(HasSubstr("pipeline")));
    EXPECT_THAT(way.what, testing::Not(HasSubstr("tensor")));
  }
}

}  // namespace
}  // namespace trainbench
