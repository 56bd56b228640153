// SPDX-License-Identifier: MIT

#include "fixtures/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace trainbench {
namespace {

using ::testing::DoubleNear;
using ::testing::Pair;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The expected values below are those of numpy 2.4.6:
//   v = [9.1, 2.5, 7.75, 3.0, 11.2, 2.5, 40.0, 5.5]
//   np.percentile(v, 100 * fraction), np.std(v, ddof=1) / np.mean(v)
const std::vector<double> kTimes = {9.1, 2.5, 7.75, 3.0, 11.2, 2.5, 40.0, 5.5};

// 0, 1, ..., n - 1 in an order that is not sorted: every value tells its rank.
std::vector<double> Ranks(int n) {
  std::vector<double> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0.0);
  for (std::size_t i = 0; i + 1 < ranks.size(); i += 2) {
    std::swap(ranks[i], ranks[ranks.size() - 1 - i]);
  }
  return ranks;
}

TEST(QuantileTest, EqualsNumpyPercentile) {
  EXPECT_DOUBLE_EQ(Quantile(kTimes, 0), 2.5);
  EXPECT_DOUBLE_EQ(Quantile(kTimes, 0.05), 2.5);
  EXPECT_DOUBLE_EQ(Quantile(kTimes, 0.25), 2.875);
  EXPECT_DOUBLE_EQ(Quantile(kTimes, 0.5), 6.625);
  EXPECT_DOUBLE_EQ(Quantile(kTimes, 0.9), 19.839999999999996);
  EXPECT_DOUBLE_EQ(Quantile(kTimes, 0.95), 29.919999999999984);
  EXPECT_DOUBLE_EQ(Quantile(kTimes, 1), 40);
}

TEST(QuantileTest, OfOneValueIsThatValue) {
  for (const double fraction : {0.0, 0.3, 1.0}) {
    EXPECT_EQ(Quantile({7}, fraction), 7);
  }
}

TEST(MedianTest, IsTheMiddleValueOrTheMeanOfTheTwo) {
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
}

TEST(CoefficientOfVariationTest, EqualsNumpy) {
  EXPECT_DOUBLE_EQ(CoefficientOfVariation(kTimes), 1.2234423686976021);
}

TEST(CoefficientOfVariationTest, IsZeroWhereItIsNotDefined) {
  EXPECT_EQ(CoefficientOfVariation({}), 0);
  EXPECT_EQ(CoefficientOfVariation({5}), 0);
  EXPECT_EQ(CoefficientOfVariation({0, 0, 0}), 0);
}

// 1 - 2 P(X < k) for X ~ Binomial(n, 1/2), exactly: 2^n P(X < k) is an integer
// that a double holds for n <= 50.
double Coverage(int n, int k) {
  double term = 1;
  double below = 0;
  for (int i = 0; i < k; ++i) {
    below += term;
    term = term * (n - i) / (i + 1);
  }
  return 1 - 2 * std::ldexp(below, -n);
}

TEST(MedianIntervalTest, IsTheNarrowestWithExactBinomialCoverage) {
  for (int n = 6; n <= 50; ++n) {
    const auto [low, high] = MedianInterval(Ranks(n));
    EXPECT_EQ(low + high, n - 1) << "not symmetric for n = " << n;
    const int k = static_cast<int>(low) + 1;
    EXPECT_GE(Coverage(n, k), 0.95) << "n = " << n;
    EXPECT_LT(Coverage(n, k + 1), 0.95) << "n = " << n;
  }
}

// The rank k is the largest with scipy.stats.binom.cdf(k - 1, n, 0.5) <= 0.025.
TEST(MedianIntervalTest, EqualsScipyForManyValues) {
  for (const auto& [n, k] : std::vector<std::pair<int, int>>{
           {51, 19}, {100, 40}, {1000, 469}, {9999, 4902}, {100000, 49690}}) {
    EXPECT_THAT(MedianInterval(Ranks(n)), Pair(k - 1, n - k)) << n;
  }
}

TEST(MedianIntervalTest, IsUnboundedBelowSixValues) {
  for (int n = 0; n < 6; ++n) {
    EXPECT_THAT(MedianInterval(Ranks(n)), Pair(-kInfinity, kInfinity)) << n;
  }
}

TEST(RelativeHalfWidthTest, IsHalfTheIntervalOverTheMedian) {
  // Six values: the interval is all of them, the median 100.
  EXPECT_THAT(RelativeHalfWidth({97, 99, 100, 100, 102, 103}),
              DoubleNear(0.03, 1e-15));
}

TEST(RelativeHalfWidthTest, AgreesWithMedianAndMedianInterval) {
  for (int n = 6; n <= 60; ++n) {
    std::vector<double> values = Ranks(n);
    for (double& value : values) value = 100 + value * value;
    const auto [low, high] = MedianInterval(values);
    EXPECT_EQ(RelativeHalfWidth(values), (high - low) / 2 / Median(values))
        << "n = " << n;
  }
}

TEST(RelativeHalfWidthTest, IgnoresOutliersOutsideTheInterval) {
  EXPECT_EQ(RelativeHalfWidth({5, 5, 5, 5, 5, 5, 5, 5, 1000}), 0);
}

TEST(RelativeHalfWidthTest, IsInfiniteWhenNothingIsKnown) {
  EXPECT_EQ(RelativeHalfWidth({}), kInfinity);
  EXPECT_EQ(RelativeHalfWidth({1, 1, 1, 1, 1}), kInfinity);
  EXPECT_EQ(RelativeHalfWidth({0, 0, 0, 0, 0, 0, 0, 1, 1}), kInfinity);
}

TEST(RelativeHalfWidthTest, OfAllZeroTimesIsZero) {
  EXPECT_EQ(RelativeHalfWidth({0, 0, 0, 0, 0, 0}), 0);
}

}  // namespace
}  // namespace trainbench
