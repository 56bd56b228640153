// SPDX-License-Identifier: MIT

#include "model/accounting/library.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace trainbench {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(OneDnnBytesBoundTest, IsAnFp32ResultAndTilesPerThread) {
  EXPECT_EQ(OneDnnBytesBound(2 * kMiB, 3), (8 + 3 * 4) * kMiB);
  EXPECT_EQ(OneDnnBytesBound(kMost / 2, 1), kMost) << "too large to count";
}

TEST(ReservedBytesTest, AreThreePercentOrTwoPagesMoreThanTheBlocks) {
  EXPECT_EQ(ReservedBytes(0), 40 * kMiB);
  EXPECT_EQ(ReservedBytes(1000 * kMiB), 1040 * kMiB);
  EXPECT_EQ(ReservedBytes(100'000 * kMiB), 103'000 * kMiB);
  EXPECT_EQ(ReservedBytes(kMost - kMiB), kMost);
}

}  // namespace
}  // namespace trainbench
