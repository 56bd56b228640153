// SPDX-License-Identifier: MIT

#include "model/accounting/communication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace trainbench {
namespace {

using testing::HasSubstr;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// Ranks on a ring, each with a buffer; counts what each sends to the next.
class Ring {
 public:
  Ring(size_t ranks, size_t elements)
      : buffers_(ranks, std::vector<double>(elements)),
        sent_bytes_(ranks, 0.0) {
    for (size_t r = 0; r < ranks; ++r) {
      std::iota(buffers_[r].begin(), buffers_[r].end(),
                100.0 * static_cast<double>(r));
      for (size_t i = 0; i < elements; ++i) {
        sums_.resize(elements);
        sums_[i] += buffers_[r][i];
      }
    }
  }

  size_t size() const { return buffers_.size(); }
  double Bytes() const { return static_cast<double>(8 * sums_.size()); }
  const std::vector<double>& sent_bytes() const { return sent_bytes_; }

  // In step s, rank r passes on the part that it got in the step before.
  void ReduceScatter() {
    Steps([](double& mine, double got) { mine += got; }, 0);
  }
  void AllGather() {
    Steps([](double& mine, double got) { mine = got; }, 1);
  }

  // Each owner's part goes from neighbour to neighbour. Owner r has the part
  // that the reduce-scatter leaves with it.
  void BroadcastParts() {
    const size_t part = sums_.size() / size();
    for (size_t owner = 0; owner < size(); ++owner) {
      const size_t begin = (owner + 1) % size() * part;
      for (size_t hop = 0; hop + 1 < size(); ++hop) {
        const size_t from = (owner + hop) % size(), to = (from + 1) % size();
        sent_bytes_[from] += static_cast<double>(8 * part);
        std::copy_n(buffers_[from].begin() + begin, part,
                    buffers_[to].begin() + begin);
      }
    }
  }

  bool AllHaveTheSum() const {
    return std::all_of(buffers_.begin(), buffers_.end(),
                       [&](const auto& buffer) { return buffer == sums_; });
  }

 private:
  template <typename Combine>
  void Steps(const Combine& combine, size_t ahead) {
    const size_t n = size(), part = sums_.size() / n;
    for (size_t step = 0; step + 1 < n; ++step) {
      const std::vector<std::vector<double>> before = buffers_;
      for (size_t r = 0; r < n; ++r) {
        const size_t begin = (r + ahead + n - step) % n * part;
        sent_bytes_[r] += static_cast<double>(8 * part);
        for (size_t i = begin; i < begin + part; ++i) {
          combine(buffers_[(r + 1) % n][i], before[r][i]);
        }
      }
    }
  }

  std::vector<std::vector<double>> buffers_;
  std::vector<double> sums_;
  std::vector<double> sent_bytes_;
};

class RingTest : public testing::TestWithParam<int> {
 protected:
  // 60 divides by every number of ranks.
  Ring ring_{static_cast<size_t>(GetParam()), 60};
};

TEST_P(RingTest, AllReduceSendsTwiceWhatTheOthersOwn) {
  ring_.ReduceScatter();
  ring_.AllGather();
  ASSERT_TRUE(ring_.AllHaveTheSum());
  const double expected = RingAllReduceBytes(ring_.Bytes(), GetParam());
  EXPECT_THAT(ring_.sent_bytes(), testing::Each(testing::DoubleEq(expected)));
  EXPECT_DOUBLE_EQ(BusBandwidthFactor(GetParam()) * ring_.Bytes(), expected);
  for (const auto kind :
       {OptimizerSharding::kReplicated, OptimizerSharding::kSharded}) {
    EXPECT_DOUBLE_EQ(OptimizerTrafficBytes(kind, ring_.Bytes(), GetParam()),
                     expected);
  }
}

TEST_P(RingTest, BroadcastsOfPartsCostHalfAnAllReduceMore) {
  ring_.ReduceScatter();
  ring_.AllGather();
  ring_.BroadcastParts();
  ASSERT_TRUE(ring_.AllHaveTheSum());
  EXPECT_THAT(ring_.sent_bytes(),
              testing::Each(testing::DoubleEq(OptimizerTrafficBytes(
                  OptimizerSharding::kBroadcast, ring_.Bytes(), GetParam()))));
}

INSTANTIATE_TEST_SUITE_P(Ranks, RingTest, testing::Values(1, 2, 3, 4, 6));

TEST(BucketsTest, BestOfTheXlModel) {
  // CS336 assignment 2: 2 H100 with NVLink, 2 A100 on PCIe; 8 GB of gradients.
  const auto nvlink = OptimalBuckets(8e9, {30, 1 / 318e3});
  ASSERT_TRUE(nvlink.ok()) << nvlink.status();
  EXPECT_EQ(std::round(nvlink->bucket_bytes / 1e6), 276);
  const auto pcie = OptimalBuckets(8e9, {50, 1 / 20e3});
  ASSERT_TRUE(pcie.ok()) << pcie.status();
  EXPECT_EQ(std::round(pcie->bucket_bytes / 1e6), 89);
}

TEST(BucketsTest, NoOtherNumberOfBucketsIsBetter) {
  for (const AlphaBeta call :
       {AlphaBeta{30, 1 / 318e3}, {50, 1 / 20e3}, {1e6, 1e-4}, {50, 0}}) {
    const auto best = OptimalBuckets(8e9, call);
    ASSERT_TRUE(best.ok()) << best.status();
    EXPECT_DOUBLE_EQ(best->buckets * best->bucket_bytes, 8e9);
    EXPECT_DOUBLE_EQ(best->overhead_us,
                     BucketOverheadUs(8e9, best->buckets, call));
    for (double n = 1; n < 2000; ++n) {
      EXPECT_GE(BucketOverheadUs(8e9, n, call), best->overhead_us) << n;
    }
  }
}

// Buckets become ready one after the other during the backward pass, which each
// call stops for alpha; one link sends them in that order.
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
  // Sending takes 0.4 s: what the backward pass cannot hide is not counted.
  EXPECT_GT(SimulatedOverheadUs(8e9, 100, 0.2e6, call),
            BucketOverheadUs(8e9, 100, call));
}

// Calls of 100 us and 1 us per 1000 bytes, of which a core works for 40 us and
// 0.5 us per 1000 bytes.
TEST(SharedCoresTest, HideTheWaitingButNotTheWork) {
  const AlphaBeta call = {100, 1e-3}, cpu = {40, 0.5e-3};
  const auto overhead = [&](double buckets, double threads) {
    return SharedCoresOverheadUs(2e6, buckets, call, cpu, threads);
  };
  EXPECT_DOUBLE_EQ(overhead(4, 1), 600 + 3 * 290);
  EXPECT_DOUBLE_EQ(overhead(4, 2), 600 + 3 * 145) << "half of the cores send";
  EXPECT_DOUBLE_EQ(overhead(1, 1), 2100) << "nothing is hidden";
  // Sending that keeps two cores busy has no more to hide.
  EXPECT_DOUBLE_EQ(SharedCoresOverheadUs(2e6, 4, call, {200, 2e-3}, 1), 2400);
}

// In place they are read and written once; a copy back does so again.
TEST(SharedCoresTest, GradientsAreScaledOnceAndCopiedBackOnce) {
  EXPECT_EQ(ScalingBytes(100, 0), 200);
  EXPECT_EQ(ScalingBytes(100, 90), 200);
  EXPECT_EQ(ScalingBytes(100, 200), 400);
}

TEST(BucketsTest, SaysWhatIsWrong) {
  const auto message = [](double bytes, const AlphaBeta& call) {
    const auto plan = OptimalBuckets(bytes, call);
    EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(plan.status().message());
  };
  EXPECT_THAT(message(0, {1, 1}), HasSubstr("gradient_bytes is 0"));
  EXPECT_THAT(message(kNoNumber, {1, 1}), HasSubstr("gradient_bytes is nan"));
  EXPECT_THAT(message(8, {0, 1}), HasSubstr("alpha_us is 0"));
  EXPECT_THAT(message(8, {kInfinite, 1}), HasSubstr("alpha_us is inf"));
  EXPECT_THAT(message(8, {1, -1}), HasSubstr("us_per_byte is -1"));
  EXPECT_THAT(message(8, {1, kNoNumber}), HasSubstr("us_per_byte is nan"));
}

}  // namespace
}  // namespace trainbench
