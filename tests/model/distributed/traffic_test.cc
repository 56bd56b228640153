// SPDX-License-Identifier: MIT

#include "model/distributed/comm/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

#include "model/distributed/zero/sharded_optimizer.h"
#include "tests/support/fake_group.h"

namespace trainbench {
namespace {

TEST(TrafficTest, SendsWhatRingsAndRootsSend) {
  EXPECT_EQ(SentBytes(CollectiveKind::kAllReduce, 800, 8), 1400);
  EXPECT_EQ(SentBytes(CollectiveKind::kAllGather, 800, 8), 700);
  EXPECT_EQ(SentBytes(CollectiveKind::kReduceScatter, 800, 8), 700);
  EXPECT_EQ(SentBytes(CollectiveKind::kBroadcast, 800, 8), 5600);
  EXPECT_EQ(SentBytes(CollectiveKind::kAllReduce, 800, 1), 0);
}

// Ranks on a ring, each with a buffer. Counts the bytes each sends to the next.
class Ring {
 public:
  Ring(std::size_t ranks, std::size_t elements)
      : buffers_(ranks, std::vector<double>(elements)),
        sent_bytes_(ranks, 0.0) {
    for (std::size_t r = 0; r < ranks; ++r) {
      std::iota(buffers_[r].begin(), buffers_[r].end(),
                100.0 * static_cast<double>(r));
      for (std::size_t i = 0; i < elements; ++i) {
        sums_.resize(elements);
        sums_[i] += buffers_[r][i];
      }
    }
  }

  std::size_t size() const { return buffers_.size(); }
  int64_t Bytes() const { return 8 * std::ssize(sums_); }
  const std::vector<double>& sent_bytes() const { return sent_bytes_; }

  // In each step, a rank passes on the part it received in the previous step.
  void ReduceScatter() {
    Steps([](double& mine, double got) { mine += got; }, 0);
  }
  void AllGather() {
    Steps([](double& mine, double got) { mine = got; }, 1);
  }

  // Passes each owner's part from neighbor to neighbor. Owner r has the part
  // that the reduce-scatter leaves with it.
  void BroadcastParts() {
    const std::size_t part = sums_.size() / size();
    for (std::size_t owner = 0; owner < size(); ++owner) {
      const std::size_t begin = (owner + 1) % size() * part;
      for (std::size_t hop = 0; hop + 1 < size(); ++hop) {
        const std::size_t from = (owner + hop) % size(),
                          to = (from + 1) % size();
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
  void Steps(const Combine& combine, std::size_t ahead) {
    const std::size_t n = size(), part = sums_.size() / n;
    for (std::size_t step = 0; step + 1 < n; ++step) {
      const std::vector<std::vector<double>> before = buffers_;
      for (std::size_t r = 0; r < n; ++r) {
        const std::size_t begin = (r + ahead + n - step) % n * part;
        sent_bytes_[r] += static_cast<double>(8 * part);
        for (std::size_t i = begin; i < begin + part; ++i) {
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
  // 60 is divisible by every number of ranks.
  Ring ring_{static_cast<std::size_t>(GetParam()), 60};
};

TEST_P(RingTest, AllReduceSendsTwiceWhatTheOthersOwn) {
  ring_.ReduceScatter();
  ring_.AllGather();
  ASSERT_TRUE(ring_.AllHaveTheSum());
  const double expected =
      SentBytes(CollectiveKind::kAllReduce, ring_.Bytes(), GetParam());
  EXPECT_THAT(ring_.sent_bytes(), testing::Each(testing::DoubleEq(expected)));
  for (const auto kind :
       {OptimizerSharding::kReplicated, OptimizerSharding::kSharded}) {
    EXPECT_DOUBLE_EQ(OptimizerSentBytes(kind, ring_.Bytes(), GetParam()),
                     expected);
  }
}

TEST_P(RingTest, BroadcastsOfPartsCostHalfAnAllReduceMore) {
  ring_.ReduceScatter();
  ring_.AllGather();
  ring_.BroadcastParts();
  ASSERT_TRUE(ring_.AllHaveTheSum());
  EXPECT_THAT(ring_.sent_bytes(),
              testing::Each(testing::DoubleEq(OptimizerSentBytes(
                  OptimizerSharding::kBroadcast, ring_.Bytes(), GetParam()))));
}

INSTANTIATE_TEST_SUITE_P(Ranks, RingTest, testing::Values(1, 2, 3, 4, 6));

TEST(TrafficTest, IsRecordedWhileSomebodyListens) {
  FakeGroup group(/*rank=*/1, /*size=*/2);
  const at::Tensor four = at::ones({4});
  group.AllReduce(four);
  Traffic expected;
  expected.Add(CollectiveKind::kAllReduce, 32, /*calls=*/2);
  expected.Add(CollectiveKind::kBroadcast, 16, /*calls=*/2);  // one as the root
  {
    const CollectiveRecorder recorder(group);
    for (const int root : {0, 1}) {
      group.AllReduce(four);
      group.Broadcast(four, root);
    }
    EXPECT_EQ(recorder.traffic(), expected);
    EXPECT_EQ(recorder.calls().size(), 4U);
    EXPECT_THROW(CollectiveRecorder second(group), c10::Error);
  }
  group.AllReduce(four);
  EXPECT_EQ(CollectiveRecorder(group).traffic(), Traffic());
  EXPECT_EQ((expected - expected).All(), CollectiveCalls());
}

}  // namespace
}  // namespace trainbench
