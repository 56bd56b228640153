// SPDX-License-Identifier: MIT

#include "model/accounting/attention.h"

#include <gtest/gtest.h>

namespace trainbench {
namespace {

using enum AttentionKind;

TEST(AttentionTrafficTest, CountsFullSquaresAndWhatHasToMove) {
  const double b = 8, t = 16384, d = 64, n = b * t * d, s = b * t * t;
  const AttentionQuery naive = {
      .attention = kNaive, .batch = 8, .seq = 16384, .d_head = 64};
  EXPECT_EQ(AttentionFlops(naive, Phase::kForward), 4 * s * d);
  EXPECT_EQ(AttentionFlops(naive, Phase::kBackward), 8 * s * d);
  EXPECT_EQ(AttentionFlops(naive, Phase::kOptimizer), 0);
  EXPECT_EQ(LeastAttentionFlops(naive, Phase::kForward), 4 * s * d);
  // Of its output, which is among what is saved, naive attention reads nothing.
  EXPECT_EQ(AttentionBytes(naive, Phase::kForward, 1000), 12 * n + 1000);
  EXPECT_EQ(AttentionBytes(naive, Phase::kBackward, 1000),
            28 * n + 1000 - 4 * n);
  AttentionQuery flash = naive;
  flash.attention = kSdpaFlash;
  flash.bf16 = true;
  EXPECT_EQ(LeastAttentionFlops(flash, Phase::kForward), 2 * s * d);
  EXPECT_EQ(AttentionBytes(flash, Phase::kForward, 1000), 6 * n + 1000);
  EXPECT_EQ(AttentionBytes(flash, Phase::kBackward, 1000), 14 * n + 1000);
  EXPECT_EQ(AttentionBytes(flash, Phase::kLoss, 1000), 0);
}

}  // namespace
}  // namespace trainbench
