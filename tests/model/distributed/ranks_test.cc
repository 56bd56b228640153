// SPDX-License-Identifier: MIT
// Starts this binary as the ranks of a job. All tests with the same number of
// ranks share one start, which takes longer than the tests do.

#include <gtest/gtest.h>

#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

constexpr char kAll[] = "Rank*-*.DISABLED_*";

TEST(AsRanksTest, TwoRanks) {
  const absl::Status status = RunAsRanks(kAll, 2);
  EXPECT_TRUE(status.ok()) << status;
}

TEST(AsRanksTest, ThreeRanksCommunicate) {
  const absl::Status status = RunAsRanks("RankProcessGroup.Collectives", 3);
  EXPECT_TRUE(status.ok()) << status;
}

// Over four ranks the order of a sum depends on the strategy.
TEST(AsRanksTest, FourRanks) {
  const absl::Status status = RunAsRanks(
      std::string(kAll) + ":RankGradientSync.StrategiesGiveTheSameBits", 4);
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace trainbench
