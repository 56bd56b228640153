// SPDX-License-Identifier: MIT

#include "model/ops/all_reduce_buffer.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "fixtures/memory/memory_probe.h"
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

TEST(AllReduceBufferTest, ValuesStayFiniteAndRandom) {
  // All ranks have the same values.
  class EqualRanks final : public FakeGroup {
   public:
    EqualRanks() : FakeGroup(/*rank=*/0, /*size=*/6) {}
    std::unique_ptr<Collective> StartAllReduce(
        const at::Tensor& tensor) override {
      tensor.mul_(6);
      return FakeGroup::StartAllReduce(tensor);
    }
  };
  EqualRanks group;
  AllReduceBuffer buffer(/*bytes=*/4096, at::kCPU, group);
  for (int i = 0; i < 1000; ++i) {
    buffer.KeepFinite();
    buffer.Reduce();
  }
  EXPECT_EQ(buffer.CheckValues(), absl::OkStatus());
  for (int i = 0; i < 100; ++i) buffer.Reduce();
  EXPECT_EQ(std::string(buffer.CheckValues().message()),
            "the buffer holds numbers that are not finite");
}

TEST(AllReduceBufferTest, OneRanksSumIsItsOwnValues) {
  FakeGroup group(/*rank=*/0, /*size=*/1);
  EXPECT_TRUE(AllReduceBuffer(64, at::kCPU, group).VerifySum().ok());
  EXPECT_EQ(group.calls(), 1);
}

// Larger than the part that is compared at a time, with a last part that is not
// full.
TEST(AllReduceBufferTest, EveryPartIsFilledAndCompared) {
  constexpr int64_t kElements = (int64_t{9} << 20) + 3;
  // Adds what the second rank holds, but for the last element.
  class TwoRanks final : public FakeGroup {
   public:
    TwoRanks() : FakeGroup(/*rank=*/0, /*size=*/2) {}
    std::unique_ptr<Collective> StartAllReduce(
        const at::Tensor& tensor) override {
      tensor.narrow(0, 0, tensor.numel() - wrong_).mul_(3);
      return FakeGroup::StartAllReduce(tensor);
    }
    int64_t wrong_ = 0;
  };
  TwoRanks group;
  AllReduceBuffer buffer(4 * kElements, at::kCPU, group);
  EXPECT_TRUE(buffer.VerifySum().ok());
  group.wrong_ = 1;
  const int64_t last = kElements - 1;
  EXPECT_EQ(
      std::string(buffer.VerifySum().message()),
      absl::StrCat("the sum over 2 ranks is ", last % 1021, " instead of ",
                   3 * (last % 1021), " at element ", last));
}

TEST(AllReduceBufferTest, TheCheckTakesAsManyBytesAsItSays) {
  FakeGroup group(/*rank=*/0, /*size=*/1);
  for (const int64_t bytes : {int64_t{64}, int64_t{40} << 20}) {
    const auto probe = MakeMemoryProbe(at::kCPU);
    const MemoryPeak peak = probe->MeasurePeak([&] {
      AllReduceBuffer buffer(bytes, at::kCPU, group);
      EXPECT_TRUE(buffer.VerifySum().ok());
    });
    const auto said = static_cast<double>(AllReduceBuffer::PeakBytes(bytes));
    EXPECT_NEAR(static_cast<double>(peak.allocated), said, 64);
  }
}

}  // namespace
}  // namespace trainbench
