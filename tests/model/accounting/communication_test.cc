// SPDX-License-Identifier: MIT

#include "model/accounting/communication.h"

#include <algorithm>
#include <cmath>

#include "tests/support/matchers.h"

namespace trainbench {
namespace {

// The first two: 2 H100 with NVLink, 2 A100 on PCIe.
TEST(BucketsTest, NoOtherNumberOfBucketsIsBetter) {
  for (const AlphaBeta call :
       {AlphaBeta{30, 1 / 318e3}, {50, 1 / 20e3}, {1e6, 1e-4}, {50, 0}}) {
    const auto best = OptimalBucketBytes(8e9, call);
    ASSERT_TRUE(best);
    const double least_us = BucketOverheadUs(8e9, 8e9 / *best, call);
    for (double n = 1; n < 2000; ++n) {
      EXPECT_GE(BucketOverheadUs(8e9, n, call), least_us) << n;
    }
  }
}

// Buckets become ready one after another during the backward pass, which each
// call delays by alpha; one link sends them in that order.
double SimulatedOverheadUs(double gradient_bytes, int buckets, double compute,
                           const AlphaBeta& call) {
  double now = 0, link_free = 0;
  for (int i = 0; i < buckets; ++i) {
    now += compute / buckets + call.alpha_us;
    link_free =
        std::max(link_free, now) + call.us_per_byte * gradient_bytes / buckets;
  }
  return link_free - compute;
}

TEST(BucketsTest, OverheadIsThatOfASimulatedStep) {
  const AlphaBeta call = {50, 1 / 20e3};
  for (const int buckets : {1, 2, 10, 100, 1000}) {
    EXPECT_NEAR(SimulatedOverheadUs(8e9, buckets, 1e6, call),
                BucketOverheadUs(8e9, buckets, call), 1e-6)
        << buckets;
  }
  // Sending takes 0.4 s. The formula omits what the backward pass cannot hide.
  EXPECT_GT(SimulatedOverheadUs(8e9, 100, 0.2e6, call),
            BucketOverheadUs(8e9, 100, call));
}

// A call takes 100 us and 1 us per 1000 bytes; 40 us and 0.5 us per 1000 bytes
// of it keep a core busy.
TEST(SharedCoresTest, HideTheWaitingButNotTheWork) {
  const AlphaBeta call = {100, 1e-3}, cpu = {40, 0.5e-3};
  const auto overhead = [&](double buckets, double threads) {
    return SharedCoresOverheadUs(2e6, buckets, call, cpu, threads);
  };
  EXPECT_DOUBLE_EQ(overhead(4, 1), 600 + 3 * 290);
  EXPECT_DOUBLE_EQ(overhead(4, 2), 600 + 3 * 145) << "half of the cores send";
  EXPECT_DOUBLE_EQ(overhead(1, 1), 2100) << "nothing is hidden";
  // Communication that keeps two cores busy cannot be hidden any more.
  EXPECT_DOUBLE_EQ(SharedCoresOverheadUs(2e6, 4, call, {200, 2e-3}, 1), 2400);
}

TEST(BucketsTest, NeedPositiveNumbers) {
  for (const double bytes : {0.0, static_cast<double>(NAN)}) {
    EXPECT_FALSE(OptimalBucketBytes(bytes, {1, 1}));
  }
  for (const AlphaBeta call :
       {AlphaBeta{0, 1}, {HUGE_VAL, 1}, {1, -1}, {1, NAN}}) {
    EXPECT_FALSE(OptimalBucketBytes(8, call));
  }
}

}  // namespace
}  // namespace trainbench
