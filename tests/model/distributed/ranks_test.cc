// SPDX-License-Identifier: MIT
// Starts this binary as the ranks of a job. All tests with the same number of
// ranks share one start, which takes longer than the tests do.

#include <gtest/gtest.h>

#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

constexpr char kAll[] = "Rank*-*.DISABLED_*";

TEST(AsRanksTest, TwoRanks) {
  EXPECT_EQ(RunAsRanks(kAll, 2), absl::OkStatus());
}

TEST(AsRanksTest, ThreeRanksCommunicate) {
  EXPECT_EQ(RunAsRanks("RankProcessGroup.Collectives", 3), absl::OkStatus());
}

TEST(AsRanksTest, FourRanks) {
  EXPECT_EQ(RunAsRanks(kAll, 4), absl::OkStatus());
}

}  // namespace
}  // namespace trainbench
