// SPDX-License-Identifier: MIT

#include "model/accounting/library.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace trainbench {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(LibraryBytesBoundTest, IsAnFp32ResultAndTilesPerThreadForOneDnn) {
  for (const Precision precision :
       {Precision::kBf16, Precision::kBf16Autocast}) {
    EXPECT_EQ(LibraryBytesBound({.precision = precision,
                                 .threads = 3,
                                 .result_elements = 2 * kMiB}),
              (8 + 3 * 4) * kMiB);
  }
  EXPECT_EQ(LibraryBytesBound({.precision = Precision::kFp32,
                               .threads = 3,
                               .result_elements = 2 * kMiB}),
            0);
  EXPECT_EQ(LibraryBytesBound({.precision = Precision::kFp32,
                               .threads = 3,
                               .fp32_by_onednn = true,
                               .result_elements = 2 * kMiB}),
            (8 + 3 * 4) * kMiB);
}

TEST(LibraryBytesBoundTest, IsTwoWorkspacesOnAGpu) {
  for (const Precision precision : kPrecisions) {
    EXPECT_EQ(LibraryBytesBound({.on_cpu = false,
                                 .precision = precision,
                                 .result_elements = 2 * kMiB}),
              64 * kMiB);
  }
}

TEST(LibraryBytesBoundTest, WhatCannotBeCountedIsTheLargestThereIs) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(LibraryBytesBound(
                {.precision = Precision::kBf16, .result_elements = kMost / 2}),
            kMost);
}

TEST(ReservedBytesTest, AreThreePercentOrTwoPagesMoreThanTheBlocks) {
  EXPECT_EQ(ReservedBytes(0), 40 * kMiB);
  EXPECT_EQ(ReservedBytes(1000 * kMiB), 1040 * kMiB);
  EXPECT_EQ(ReservedBytes(100'000 * kMiB), 103'000 * kMiB);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ReservedBytes(kMost - kMiB), kMost);
}

}  // namespace
}  // namespace trainbench
