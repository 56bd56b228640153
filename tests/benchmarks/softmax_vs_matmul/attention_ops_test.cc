// SPDX-License-Identifier: MIT

#include "benchmarks/softmax_vs_matmul/attention_ops.h"

#include <torch/types.h>

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

constexpr AttentionOpShape kShapes[] = {
    {.batch = 2, .heads = 3, .seq = 128, .d_head = 64},
    {.batch = 1, .heads = 2, .seq = 256, .d_head = 16},
    {.batch = 2, .heads = 2, .seq = 64, .d_head = 80},
    {.batch = 1, .heads = 2, .seq = 48, .d_head = 100}};

TEST(AttentionOpsTest, EachGivesTheFloat64Result) {
  at::manual_seed(1);
  for (const AttentionOpShape& shape : kShapes) {
    for (const AttentionOp op : AttentionOpName.values()) {
      for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
        const AttentionOpInputs in = RandomOpInputs(op, shape, dtype);
        EXPECT_TRUE(VerifyAttentionOp(op, in).ok()) << AttentionOpName(op);
        EXPECT_EQ(ComputeAttentionOp(op, in).scalar_type(), dtype)
            << AttentionOpName(op);
      }
    }
  }
}

TEST(AttentionOpsTest, TheHeadWithAWrongResultIsNamed) {
  for (const AttentionOp op : AttentionOpName.values()) {
    const AttentionOpInputs in = RandomOpInputs(
        op, {.batch = 2, .heads = 2, .seq = 8, .d_head = 64}, at::kFloat);
    in.a[0][1].fill_(std::numeric_limits<double>::quiet_NaN());
    EXPECT_THAT(std::string(VerifyAttentionOp(op, in).message()),
                EndsWith(absl::StrCat(" in head 1 of ", AttentionOpName(op))));
  }
}

}  // namespace
}  // namespace trainbench
