// SPDX-License-Identifier: MIT

#include "model/distributed/comm/traffic.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>

#include "model/distributed/comm/process_group.h"
#include "model/distributed/zero/sharded_optimizer.h"

namespace trainbench {
namespace {

TEST(TrafficTest, SendsWhatRingsAndRootsSend) {
  struct Sent {
    int64_t ranks;
    double scattered, broadcast;  // of 120 bytes
  };
  for (const auto& [ranks, scattered, broadcast] :
       {Sent{1, 0, 0}, Sent{2, 60, 120}, Sent{3, 80, 240}, Sent{6, 100, 600}}) {
    const auto sent = [n = ranks](CollectiveKind kind) {
      return SentBytes(kind, 120, n);
    };
    EXPECT_DOUBLE_EQ(sent(CollectiveKind::kReduceScatter), scattered);
    EXPECT_DOUBLE_EQ(sent(CollectiveKind::kAllGather), scattered);
    EXPECT_DOUBLE_EQ(sent(CollectiveKind::kAllReduce), 2 * scattered);
    EXPECT_DOUBLE_EQ(sent(CollectiveKind::kBroadcast), broadcast);
    const auto by_optimizer = [n = ranks](OptimizerSharding sharding) {
      return OptimizerSentBytes(sharding, 120, n);
    };
    EXPECT_DOUBLE_EQ(by_optimizer(OptimizerSharding::kReplicated),
                     2 * scattered);
    EXPECT_DOUBLE_EQ(by_optimizer(OptimizerSharding::kSharded), 2 * scattered);
    // All owners together send as much as one root with 1 / N of the bytes.
    EXPECT_DOUBLE_EQ(by_optimizer(OptimizerSharding::kBroadcast),
                     2 * scattered + broadcast / static_cast<double>(ranks));
  }
}

TEST(TrafficTest, IsRecordedWhileSomebodyListens) {
  const auto group = ProcessGroup::Fake({.rank = 1, .size = 2});
  const at::Tensor four = at::ones({4});
  group->AllReduce(four);
  Traffic expected;
  expected.Add(CollectiveKind::kAllReduce, 32, /*calls=*/2);
  expected.Add(CollectiveKind::kBroadcast, 16, /*calls=*/2);  // one as the root
  {
    const CollectiveRecorder recorder(*group);
    for (const int root : {0, 1}) {
      group->AllReduce(four);
      group->Broadcast(four, root);
    }
    EXPECT_EQ(recorder.traffic(), expected);
    EXPECT_EQ(recorder.calls().size(), 4U);
    EXPECT_THROW(CollectiveRecorder second(*group), c10::Error);
  }
  group->AllReduce(four);
  EXPECT_EQ(CollectiveRecorder(*group).traffic(), Traffic());
  EXPECT_EQ((expected - expected).All(), CollectiveCalls());
}

}  // namespace
}  // namespace trainbench
