// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/bucket_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <vector>

namespace trainbench {
namespace {

using ::testing::ElementsAre;

std::vector<at::Tensor> OfElements(const std::vector<int64_t>& elements) {
  std::vector<at::Tensor> tensors;
  for (const int64_t n : elements) tensors.push_back(at::empty({n}));
  return tensors;
}

TEST(BucketPlanTest, BucketsAreFilledInReverse) {
  EXPECT_THAT(PlanBuckets(OfElements({1, 2, 3, 4}), /*bucket_bytes=*/20),
              ElementsAre(ElementsAre(3), ElementsAre(2, 1), ElementsAre(0)));
}

TEST(BucketPlanTest, WhatIsLargerThanABucketIsAlone) {
  EXPECT_THAT(PlanBuckets(OfElements({1, 100, 1}), 20),
              ElementsAre(ElementsAre(2), ElementsAre(1), ElementsAre(0)));
}

TEST(BucketPlanTest, OnlySharedBucketsNeedABuffer) {
  EXPECT_EQ(BucketBufferBytes(OfElements({1, 2, 3, 4}), 20), 4 * (2 + 3));
  EXPECT_EQ(BucketBufferBytes(OfElements({1, 2, 3, 4}), 1000), 4 * 10);
  EXPECT_EQ(BucketBufferBytes(OfElements({1, 2, 3, 4}), 4), 0);
}

}  // namespace
}  // namespace trainbench
