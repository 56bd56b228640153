// SPDX-License-Identifier: MIT

#include "model/spec/checkpointing.h"

#include <gtest/gtest.h>

#include <utility>

namespace trainbench {
namespace {

using enum Checkpointing::Kind;

TEST(CheckpointingNameTest, NamesAreReadAsTheyAreWritten) {
  for (const Checkpointing& one :
       {Checkpointing{}, Checkpointing{kAttention}, Checkpointing{kBlocks},
        Checkpointing{kBlocks, 1}, Checkpointing{kBlocks, 1 << 20}}) {
    EXPECT_EQ(ParseCheckpointing(CheckpointingName(one)).value(), one);
  }
  EXPECT_EQ(CheckpointingName({}), "none");
  EXPECT_EQ(CheckpointingName({kAttention}), "attention");
  EXPECT_EQ(CheckpointingName({kBlocks}), "every_sqrt");
  EXPECT_EQ(CheckpointingName({kBlocks, 2}), "every_2");
}

TEST(CheckpointingNameTest, ASegmentHasTheBlocksAskedForOrTheirSquareRoot) {
  EXPECT_EQ(Checkpointing{}.SegmentOf(12), 0);
  EXPECT_EQ(Checkpointing{kAttention}.SegmentOf(12), 0);
  EXPECT_EQ((Checkpointing{kBlocks, 5}.SegmentOf(12)), 5);
  EXPECT_EQ((Checkpointing{kBlocks, 50}.SegmentOf(12)), 12);
  for (const auto& [layers, root] :
       {std::pair(1, 1), std::pair(2, 1), std::pair(4, 2), std::pair(12, 3),
        std::pair(32, 6), std::pair(48, 7)}) {
    EXPECT_EQ(Checkpointing{kBlocks}.SegmentOf(layers), root) << layers;
  }
}

}  // namespace
}  // namespace trainbench
