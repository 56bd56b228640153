// SPDX-License-Identifier: MIT

#include "model/spec/attention_variant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace trainbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using enum AttentionKind;

TEST(AttentionVariantTest, IsFoundByItsKind) {
  for (const AttentionKind kind : AttentionKinds()) {
    EXPECT_EQ(VariantOf(kind).kind, kind);
  }
  EXPECT_EQ(AttentionName(kSdpaFlash), "sdpa_flash");
  EXPECT_EQ(AttentionNames([](AttentionKind) { return true; }),
            "naive, sdpa, sdpa_math, sdpa_flash, sdpa_efficient, sdpa_cudnn, "
            "tiled, own");
}

TEST(AttentionVariantTest, OnACpuLibrarysKernelsForGpusAreUnavailable) {
  for (const bool bf16 : {false, true}) {
    for (const AttentionKind kind : AttentionKinds()) {
      const std::string reason =
          AttentionUnavailable(kind, DeviceKind::kCpu, bf16, 80);
      if (kind == kSdpaEfficient || kind == kSdpaCudnn) {
        EXPECT_THAT(reason,
                    AllOf(HasSubstr("needs an NVIDIA GPU; this device is a "
                                    "CPU, which has naive, sdpa, sdpa_math, "
                                    "sdpa_flash, tiled"),
                          Not(HasSubstr("cudnn,"))));
      } else {
        EXPECT_EQ(reason, "") << AttentionName(kind);
      }
    }
  }
}

TEST(AttentionVariantTest, OnAGpuSomeTake16BitTypesOnly) {
  for (const AttentionKind kind : {kSdpaFlash, kSdpaCudnn}) {
    EXPECT_EQ(AttentionUnavailable(kind, DeviceKind::kCuda, true, 64), "");
    EXPECT_THAT(AttentionUnavailable(kind, DeviceKind::kCuda, false, 64),
                AllOf(HasSubstr("bf16 or fp16 only"),
                      HasSubstr("fp32 is taken by naive, sdpa, sdpa_math, "
                                "sdpa_efficient, tiled")));
  }
  for (const AttentionKind kind : {kNaive, kSdpaMath, kSdpaEfficient, kTiled}) {
    EXPECT_EQ(AttentionUnavailable(kind, DeviceKind::kCuda, false, 64), "");
  }
}

TEST(AttentionVariantTest, OnAGpuOurKernelsHaveSomeHeadDimensions) {
  for (const int64_t d_head : {16, 32, 64, 128}) {
    EXPECT_EQ(AttentionUnavailable(kOwn, DeviceKind::kCuda, true, d_head), "");
  }
  EXPECT_THAT(AttentionUnavailable(kOwn, DeviceKind::kCuda, true, 80),
              HasSubstr("heads of dimension 16, 32, 64, 128; these have 80, "
                        "which is taken by naive, sdpa"));
}

TEST(AttentionVariantTest, OnASmallGpuOurKernelsLackSharedMemory) {
  constexpr int64_t kOf86 = 99 << 10, kOf80 = 163 << 10;
  const auto why = [](int64_t d_head, bool bf16, int64_t shared_bytes) {
    return AttentionUnavailable(kOwn, DeviceKind::kCuda, bf16, d_head,
                                shared_bytes);
  };
  for (const bool bf16 : {false, true}) {
    EXPECT_THAT(why(128, bf16, kOf86),
                AllOf(HasSubstr("own attention takes 148480 bytes of shared "
                                "memory in a block for heads of dimension 128; "
                                "a block of this GPU may have 101376, which "
                                "suffice for naive, sdpa, sdpa_math, "),
                      HasSubstr("tiled"), Not(HasSubstr(", own"))));
    EXPECT_EQ(why(128, bf16, kOf80), "");
    EXPECT_EQ(why(128, bf16, 0), "");  // unknown
    EXPECT_EQ(why(64, bf16, kOf86), "");
  }
  EXPECT_EQ(AttentionUnavailable(kOwn, DeviceKind::kCpu, true, 128, 1), "");
}

}  // namespace
}  // namespace trainbench
