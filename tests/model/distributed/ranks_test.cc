// SPDX-License-Identifier: MIT
// Starts this binary as the ranks of a job. All tests of a number of ranks
// share one start, which takes longer than they do.

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

// The order of a sum over four is not the same for all strategies.
TEST(AsRanksTest, FourRanks) {
  const absl::Status status = RunAsRanks(
      std::string(kAll) + ":RankGradientSync.StrategiesGiveTheSameBits", 4);
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace trainbench
