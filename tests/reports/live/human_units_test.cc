// SPDX-License-Identifier: MIT

#include "reports/live/human_units.h"

#include <gtest/gtest.h>

#include <limits>

namespace trainbench {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(HumanTimeTest, ChoosesTheUnit) {
  EXPECT_EQ(HumanTime(0), "0 ns");
  EXPECT_EQ(HumanTime(0.845), "845 ns");
  EXPECT_EQ(HumanTime(845), "845 us");
  EXPECT_EQ(HumanTime(12'300), "12.3 ms");
  EXPECT_EQ(HumanTime(2.31e6), "2.31 s");
  EXPECT_EQ(HumanTime(4.5678e9), "4568 s");
}

TEST(HumanTimeTest, RoundsUpIntoTheNextUnit) {
  EXPECT_EQ(HumanTime(999.4), "999 us");
  EXPECT_EQ(HumanTime(999.6), "1.00 ms");
  EXPECT_EQ(HumanTime(1000), "1.00 ms");
  EXPECT_EQ(HumanTime(999'600), "1.00 s");
}

TEST(HumanTimeTest, KeepsThreeDigitsWhereRoundingAddsOne) {
  EXPECT_EQ(HumanTime(9.994), "9.99 us");
  EXPECT_EQ(HumanTime(9.996), "10.0 us");
  EXPECT_EQ(HumanTime(99.94), "99.9 us");
  EXPECT_EQ(HumanTime(99.96), "100 us");
}

TEST(HumanTimeTest, SaysNothingOfWhatIsNotFinite) {
  EXPECT_EQ(HumanTime(kInf), "-");
  EXPECT_EQ(HumanTime(-kInf), "-");
  EXPECT_EQ(HumanTime(kNan), "-");
}

TEST(HumanTimeTest, KeepsTheSign) { EXPECT_EQ(HumanTime(-1500), "-1.50 ms"); }

TEST(HumanBytesTest, CountsInPowersOf1024) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(5), "5 B");
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(1024), "1.00 KiB");
  EXPECT_EQ(HumanBytes(1536), "1.50 KiB");
  EXPECT_EQ(HumanBytes(1020.0 * 1024 * 1024), "1020 MiB");
  EXPECT_EQ(HumanBytes(1023.7 * 1024 * 1024), "1.00 GiB");
  EXPECT_EQ(HumanBytes(141.0 * 1024 * 1024 * 1024), "141 GiB");
  EXPECT_EQ(HumanBytes(kNan), "-");
}

TEST(HumanRateTest, CountsInPowersOf1000) {
  EXPECT_EQ(HumanRate(1.42e11, "FLOP/s"), "142 GFLOP/s");
  EXPECT_EQ(HumanRate(12.1e9, "B/s"), "12.1 GB/s");
  EXPECT_EQ(HumanRate(9.996e14, "FLOP/s"), "1.00 PFLOP/s");
  EXPECT_EQ(HumanRate(1500, "tokens/s"), "1.50 ktokens/s");
  EXPECT_EQ(HumanRate(0.5, "steps/s"), "0.50 steps/s");
  EXPECT_EQ(HumanRate(0, "B/s"), "0 B/s");
  EXPECT_EQ(HumanRate(kInf, "B/s"), "-");
}

TEST(WithThousandsTest, GroupsThreeDigits) {
  EXPECT_EQ(WithThousands(0), "0");
  EXPECT_EQ(WithThousands(999), "999");
  EXPECT_EQ(WithThousands(1000), "1,000");
  EXPECT_EQ(WithThousands(1'998'235'200), "1,998,235,200");
}

TEST(HumanCountTest, PrintsWholeNumbersInFull) {
  EXPECT_EQ(HumanCount(0), "0");
  EXPECT_EQ(HumanCount(44), "44");
  EXPECT_EQ(HumanCount(219'848'638'464.0), "219,848,638,464");
  EXPECT_EQ(HumanCount(1.2345e18), "1.234e+18");
}

TEST(HumanCountTest, PrintsOneDecimalBelowAMillion) {
  EXPECT_EQ(HumanCount(0.5), "0.5");
  EXPECT_EQ(HumanCount(100.25), "100.2");
  EXPECT_EQ(HumanCount(20'444.44), "20,444.4");
  EXPECT_EQ(HumanCount(1'000'000.4), "1,000,000");
  EXPECT_EQ(HumanCount(0.04), "0.04");
}

TEST(HumanBytesInBothUnitsTest, UsesTheSamePowerForBoth) {
  EXPECT_EQ(HumanBytesInBothUnits(512), "512 B");
  EXPECT_EQ(HumanBytesInBothUnits(0), "0 B");
  EXPECT_EQ(HumanBytesInBothUnits(999.6), "1.00 kB = 0.98 KiB");
  EXPECT_EQ(HumanBytesInBothUnits(89.4e6), "89.4 MB = 85.3 MiB");
  EXPECT_EQ(HumanBytesInBothUnits(8e9), "8.00 GB = 7.45 GiB");
}

TEST(HumanBytesInBothUnitsTest, CountsDeviceMemoryInGigabytes) {
  EXPECT_EQ(HumanBytesInBothUnits(3'517'578'215'424), "3517.6 GB = 3276.0 GiB");
  EXPECT_EQ(HumanBytesInBothUnits(12e12), "12.0 TB = 10.9 TiB");
  EXPECT_EQ(HumanBytesInBothUnits(1e19), "1e+07 TB = 9.095e+06 TiB");
}

TEST(HumanPercentTest, ShowsADecimalWhereItMatters) {
  EXPECT_EQ(HumanPercent(0), "0.0 %");
  EXPECT_EQ(HumanPercent(0.0123), "1.2 %");
  EXPECT_EQ(HumanPercent(0.0994), "9.9 %");
  EXPECT_EQ(HumanPercent(0.0996), "10 %");
  EXPECT_EQ(HumanPercent(0.41), "41 %");
  EXPECT_EQ(HumanPercent(kNan), "-");
}

}  // namespace
}  // namespace trainbench
