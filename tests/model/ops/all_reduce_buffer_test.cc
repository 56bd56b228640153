// SPDX-License-Identifier: MIT

#include "model/ops/all_reduce_buffer.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <string>

#include "tests/support/fake_group.h"

namespace trainbench {
namespace {

TEST(AllReduceBufferTest, AWrongSumIsNamedWithItsFirstElement) {
  FakeGroup group(/*rank=*/0, /*size=*/2);
  AllReduceBuffer buffer(/*bytes=*/64, at::kCPU, group);
  // Element 0 is right by chance: 0 on all ranks.
  EXPECT_EQ(std::string(buffer.VerifySum().message()),
            "the sum over 2 ranks is 1 instead of 3 at element 1");
}

TEST(AllReduceBufferTest, OneRanksSumIsItsOwnValues) {
  FakeGroup group(/*rank=*/0, /*size=*/1);
  EXPECT_TRUE(AllReduceBuffer(64, at::kCPU, group).VerifySum().ok());
  EXPECT_EQ(group.calls(), 1);
}

}  // namespace
}  // namespace trainbench
