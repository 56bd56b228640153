// SPDX-License-Identifier: MIT

#include "model/spec/parallel/tensor_part.h"

#include <string>

#include "tests/support/matchers.h"

namespace trainbench {
namespace {

TEST(TensorPartTest, PartsFollowEachOtherAndDifferByOneAtMost) {
  for (const int64_t size : {4, 7, 10, 50257}) {
    for (const int64_t ranks : {1, 2, 3, 4}) {
      int64_t next = 0;
      for (int64_t rank = 0; rank < ranks; ++rank) {
        const IndexRange part = PartOf(size, rank, ranks);
        EXPECT_EQ(part.first, next);
        EXPECT_LE(part.count, PartOf(size, 0, ranks).count);
        EXPECT_GE(part.count + 1, PartOf(size, 0, ranks).count);
        next += part.count;
      }
      EXPECT_EQ(next, size);
    }
  }
}

TEST(TensorPartTest, APartHasFewerHeadsOfTheSameWidth) {
  const ModelConfig whole = {"m", 24, 41, 2, 6, 37};
  const ModelConfig part = PartOf(whole, /*rank=*/0, /*ranks=*/3);
  EXPECT_EQ(part.d_model, 24);
  EXPECT_EQ(part.heads, 2);
  EXPECT_EQ(part.d_head(), 4);
  EXPECT_EQ(part.d_attention(), 8);
  EXPECT_EQ(part.d_ff, 14);
  EXPECT_EQ(part.vocab, 13);
  EXPECT_EQ(PartOf(whole, /*rank=*/2, /*ranks=*/3).d_ff, 13);
  EXPECT_TRUE(Validate(part).ok()) << "8 channels of heads in 24 of the model";
}

TEST(TensorPartTest, APartHasTheKeysThatItsHeadsRead) {
  ModelConfig whole = {"m", 48, 41, 2, 12, 37};
  whole.kv_heads = 4;
  const ModelConfig part = PartOf(whole, /*rank=*/1, /*ranks=*/2);
  EXPECT_EQ(part.heads, 6);
  EXPECT_EQ(part.kv_heads, 2);
  EXPECT_EQ(part.d_key_value(), 8);
  EXPECT_TRUE(ValidateParts(whole, 4).ok());
  EXPECT_EQ(std::string(ValidateParts(whole, 3).message()),
            "3 ranks share the 4 kv_heads of m; allowed: a number of ranks "
            "that divides the kv_heads");
}

}  // namespace
}  // namespace trainbench
