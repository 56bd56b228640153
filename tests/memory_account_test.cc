// SPDX-License-Identifier: MIT

#include "fixtures/memory_account.h"

#include <c10/util/ThreadLocalDebugInfo.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <array>
#include <cstdint>
#include <memory>

namespace trainbench {
namespace {

const c10::Device kCpu(c10::kCPU);

class MemoryAccountTest : public testing::Test {
 protected:
  void Report(std::size_t block, int64_t bytes, c10::Device device = kCpu) {
    account_.reportMemoryUsage(&blocks_[block], bytes, 0, 0, device);
  }

  MemoryAccount account_{kCpu};
  std::array<char, 4> blocks_{};
};

TEST_F(MemoryAccountTest, CountsTheBlocksOfItsDevice) {
  Report(0, 100);
  Report(1, 20);
  Report(2, 1000, c10::Device(c10::kCUDA, 0));
  Report(0, -100);
  EXPECT_EQ(account_.LiveBytes(), 20);
  EXPECT_EQ(account_.PeakBytes(), 120);
  account_.ResetPeak();
  EXPECT_EQ(account_.PeakBytes(), 20);
}

TEST_F(MemoryAccountTest, AReleaseOfABlockFromBeforeDoesNotCount) {
  Report(0, 100);
  Report(1, -70);
  EXPECT_EQ(account_.LiveBytes(), 100);
}

TEST_F(MemoryAccountTest, ABlockThatWasReleasedUnseenIsReplaced) {
  Report(0, 100);
  Report(0, 30);  // the same address again
  EXPECT_EQ(account_.LiveBytes(), 30);
  EXPECT_EQ(account_.PeakBytes(), 100);
  Report(0, -30);
  EXPECT_EQ(account_.LiveBytes(), 0);
}

TEST_F(MemoryAccountTest, TheNetSumCountsEveryReport) {
  Report(1, -40);  // from before
  Report(0, 100);
  Report(0, 30);
  EXPECT_EQ(account_.NetBytes(), 90);
}

int64_t AllocateAndFree() { return at::empty({64}, at::kByte).numel(); }

TEST(ObserveMemoryTest, TheInnerAndTheOuterAccountAreTold) {
  const auto outer = std::make_shared<MemoryAccount>(kCpu);
  const auto inner = std::make_shared<MemoryAccount>(kCpu);
  at::Tensor kept;
  ObserveMemory(outer, [&] {
    ObserveMemory(inner, [&] { kept = at::empty({100}, at::kByte); });
    AllocateAndFree();
  });
  EXPECT_EQ(outer->LiveBytes(), 100);
  EXPECT_EQ(outer->PeakBytes(), 164);
  EXPECT_EQ(inner->LiveBytes(), 100);
  EXPECT_EQ(inner->PeakBytes(), 100);
  // No longer inside: the outer one is not told.
  ObserveMemory(inner, [&] { AllocateAndFree(); });
  EXPECT_EQ(inner->PeakBytes(), 164);
  ObserveMemory(inner, [&] { kept.reset(); });
  EXPECT_EQ(inner->LiveBytes(), 0);
  EXPECT_EQ(outer->LiveBytes(), 100);
}

TEST(ObserveMemoryTest, OneAccountInsideItselfCountsOnce) {
  const auto account = std::make_shared<MemoryAccount>(kCpu);
  at::Tensor kept;
  ObserveMemory(account, [&] {
    ObserveMemory(account, [&] { kept = at::empty({100}, at::kByte); });
  });
  EXPECT_EQ(account->LiveBytes(), 100);
}

}  // namespace
}  // namespace trainbench
