// SPDX-License-Identifier: MIT

#include "model/accounting/attention_ops.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <set>
#include <string>

#include "benchmarks/softmax_vs_matmul/attention_ops.h"

namespace trainbench {
namespace {

AttentionOpInputs MakeInputs(const AttentionOpQuery& q) {
  at::manual_seed(1);
  return RandomOpInputs(
      q.part, {q.batch, q.heads, q.seq, q.d_head},
      at::TensorOptions().dtype(q.bf16 ? at::kBFloat16 : at::kFloat));
}

std::vector<AttentionOpQuery> OpQueries() {
  const AttentionOpQuery shapes[] = {
      {.batch = 2, .heads = 3, .seq = 128, .d_head = 64},
      {.batch = 1, .heads = 2, .seq = 256, .d_head = 16},
      {.batch = 2, .heads = 2, .seq = 64, .d_head = 80},
      {.batch = 1, .heads = 2, .seq = 48, .d_head = 100}};
  std::vector<AttentionOpQuery> queries;
  for (AttentionOpQuery query : shapes) {
    for (const AttentionOp part : kAttentionOps) {
      for (const bool bf16 : {false, true}) {
        query.part = part;
        query.bf16 = bf16;
        queries.push_back(query);
      }
    }
  }
  return queries;
}

std::string Describe(const AttentionOpQuery& q) {
  return std::string(AttentionOpName(q.part)) + (q.bf16 ? " bf16 " : " fp32 ") +
         std::to_string(q.seq) + "x" + std::to_string(q.d_head);
}

// What goes in and comes out, by the tensors themselves.
TEST(AttentionOpBytesTest, AreThoseOfTheTensors) {
  for (const AttentionOpQuery& query : OpQueries()) {
    const AttentionOpInputs in = MakeInputs(query);
    const at::Tensor out = ComputeAttentionOp(query.part, in);
    double moved = static_cast<double>(in.a.nbytes() + out.nbytes());
    if (in.b.defined()) moved += static_cast<double>(in.b.nbytes());
    if (query.part == AttentionOp::kSoftmaxNaive) {
      // max, subtract, exp, sum and divide, in fp32; bf16 is widened before
      // and narrowed after.
      const double fp32 = 4.0 * static_cast<double>(in.a.numel());
      const double passes = fp32 * (1 + 2 + 2 + 1 + 2);
      moved = query.bf16 ? passes + moved + 2 * fp32 : passes;
    }
    EXPECT_EQ(AttentionOpBytes(query), moved) << Describe(query);
  }
}

TEST(AttentionOpFlopsTest, AreTwoPerMultiplyAddAndFivePerScore) {
  AttentionOpQuery query = {.batch = 4, .heads = 32, .seq = 512, .d_head = 80};
  const double product = 2.0 * 4 * 32 * 512 * 512 * 80;
  EXPECT_EQ(AttentionOpFlops(query), product);
  query.part = AttentionOp::kPv;
  EXPECT_EQ(AttentionOpFlops(query), product);
  for (const AttentionOp part :
       {AttentionOp::kSoftmaxNaive, AttentionOp::kSoftmaxFused}) {
    query.part = part;
    EXPECT_EQ(product / AttentionOpFlops(query), 32);
  }
}

TEST(AttentionOpTest, NamesDiffer) {
  std::set<std::string> names;
  for (const AttentionOp part : kAttentionOps) {
    names.insert(std::string(AttentionOpName(part)));
  }
  EXPECT_EQ(names.size(), kAttentionOps.size());
}

}  // namespace
}  // namespace trainbench
