// SPDX-License-Identifier: MIT

#include "model/distributed/comm/traffic.h"

#include <gtest/gtest.h>

#include "model/accounting/communication.h"
#include "tests/support/fake_group.h"

namespace trainbench {
namespace {

TEST(TrafficTest, SendsWhatRingsAndRootsSend) {
  EXPECT_EQ(SentBytes(CollectiveKind::kAllReduce, 800, 8), 1400);
  EXPECT_EQ(RingAllReduceBytes(800, 8), 1400) << "the formula of time";
  EXPECT_EQ(SentBytes(CollectiveKind::kAllGather, 800, 8), 700);
  EXPECT_EQ(SentBytes(CollectiveKind::kReduceScatter, 800, 8), 700);
  EXPECT_EQ(SentBytes(CollectiveKind::kBroadcast, 800, 8), 5600);
  EXPECT_EQ(SentBytes(CollectiveKind::kAllReduce, 800, 1), 0);
}

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
