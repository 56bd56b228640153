// SPDX-License-Identifier: MIT

#include "fixtures/memory_probe.h"

#include <c10/util/ThreadLocalDebugInfo.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

namespace trainbench {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

at::Tensor Allocate(int64_t mebibytes) {
  return at::empty({mebibytes * kMiB}, at::kByte);
}

bool ReporterInstalled() {
  return c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE) !=
         nullptr;
}

class MemoryProbeTest : public testing::Test {
 protected:
  const std::unique_ptr<MemoryProbe> probe_ = MakeMemoryProbe(at::kCPU);
};

TEST_F(MemoryProbeTest, PeakIsTheMostThatWasAliveAtOnce) {
  const MemoryPeak peak = probe_->MeasurePeak([] {
    const at::Tensor a = Allocate(4);
    {
      const at::Tensor b = Allocate(4);
      const at::Tensor c = Allocate(4);  // 12 MiB here
    }
    const at::Tensor d = Allocate(6);  // 10 MiB here
  });
  EXPECT_EQ(peak.allocated, 12 * kMiB);
  EXPECT_FALSE(peak.reserved.has_value());
  EXPECT_EQ(probe_->LiveBytes(), 0);
}

TEST_F(MemoryProbeTest, OddSizesAreExact) {
  const MemoryPeak peak = probe_->MeasurePeak([] {
    const at::Tensor a = at::empty({3, 5, 7}, at::kDouble);
    const at::Tensor b = at::empty({13}, at::kBFloat16);
  });
  EXPECT_EQ(peak.allocated, 3 * 5 * 7 * 8 + 13 * 2);
}

TEST_F(MemoryProbeTest, WhatObserveLeavesStaysInTheAccount) {
  at::Tensor kept, other;
  probe_->Observe([&] {
    kept = Allocate(5);
    const at::Tensor gone = Allocate(9);
  });
  EXPECT_EQ(probe_->LiveBytes(), 5 * kMiB);
  probe_->Observe([&] { other = Allocate(2); });
  EXPECT_EQ(probe_->LiveBytes(), 7 * kMiB);
  // The peak includes them, and not the 9 MiB of before.
  EXPECT_EQ(probe_->MeasurePeak([] { Allocate(1); }).allocated, 8 * kMiB);
  probe_->Observe([&] { kept.reset(); });
  EXPECT_EQ(probe_->LiveBytes(), 2 * kMiB);
}

TEST_F(MemoryProbeTest, EachPeakStartsAnew) {
  EXPECT_EQ(probe_->MeasurePeak([] { Allocate(8); }).allocated, 8 * kMiB);
  EXPECT_EQ(probe_->MeasurePeak([] { Allocate(3); }).allocated, 3 * kMiB);
  EXPECT_EQ(probe_->MeasurePeak([] {}).allocated, 0);
}

TEST_F(MemoryProbeTest, ViewsAndTensorsOnNoDeviceCostNothing) {
  const at::Tensor x = Allocate(2);
  const MemoryPeak peak = probe_->MeasurePeak([&] {
    const at::Tensor view = x.view({2, -1}).t();
    const at::Tensor meta =
        at::empty({kMiB, kMiB}, at::TensorOptions().device(at::kMeta));
  });
  EXPECT_EQ(peak.allocated, 0);
}

TEST_F(MemoryProbeTest, OutsideObserveNothingIsSeen) {
  const at::Tensor before = Allocate(4);
  EXPECT_FALSE(ReporterInstalled());
  EXPECT_EQ(probe_->LiveBytes(), 0);
  probe_->Observe([] { EXPECT_TRUE(ReporterInstalled()); });
  EXPECT_FALSE(ReporterInstalled());
  const at::Tensor after = Allocate(4);
  EXPECT_EQ(probe_->LiveBytes(), 0);
}

TEST_F(MemoryProbeTest, AnExceptionUninstallsTheReporterAndKeepsTheAccount) {
  at::Tensor kept;
  const auto fail = [&] {
    kept = Allocate(3);
    const at::Tensor gone = Allocate(4);
    throw std::domain_error("out of memory");
  };
  EXPECT_THROW(probe_->Observe(fail), std::domain_error);
  EXPECT_FALSE(ReporterInstalled());
  EXPECT_EQ(probe_->LiveBytes(), 3 * kMiB);
  EXPECT_THROW(probe_->MeasurePeak(fail), std::domain_error);
  EXPECT_FALSE(ReporterInstalled());
  EXPECT_EQ(probe_->MeasurePeak([] { Allocate(1); }).allocated, 4 * kMiB);
}

TEST_F(MemoryProbeTest, TwoProbesKeepTwoAccounts) {
  const auto other = MakeMemoryProbe(at::kCPU);
  at::Tensor a, b;
  probe_->Observe([&] { a = Allocate(1); });
  other->Observe([&] { b = Allocate(2); });
  EXPECT_EQ(probe_->LiveBytes(), 1 * kMiB);
  EXPECT_EQ(other->LiveBytes(), 2 * kMiB);
}

TEST_F(MemoryProbeTest, SeesWhatAutogradSavesAndWhatItsBackwardAllocates) {
  // On another device the engine has its own threads; on the CPU it runs here.
  const int64_t size = kMiB;  // bytes of a tensor
  at::Tensor x;
  probe_->Observe([&] {
    x = at::ones({size / 4}).requires_grad_(true);
    const at::Tensor loss = x.exp().sum();
  });
  EXPECT_EQ(probe_->LiveBytes(), size);
  at::Tensor loss;
  probe_->Observe([&] { loss = x.exp().sum(); });
  EXPECT_EQ(probe_->LiveBytes(), 2 * size + 4) << "exp saves its result";
  const MemoryPeak peak = probe_->MeasurePeak([&] { loss.backward(); });
  EXPECT_EQ(probe_->LiveBytes(), 2 * size + 4) << "x, its gradient and loss";
  // While the gradient is computed exp's result is still there; beside it are
  // loss and its gradient, one float each.
  EXPECT_GE(peak.allocated, 3 * size + 8);
  EXPECT_LE(peak.allocated, 3 * size + 64);
}

TEST_F(MemoryProbeTest, SeesAllocationsOfManyOperations) {
  std::vector<at::Tensor> kept;
  probe_->Observe([&] {
    for (int64_t i = 1; i <= 100; ++i) kept.push_back(Allocate(1));
    kept.resize(10);
  });
  EXPECT_EQ(probe_->LiveBytes(), 10 * kMiB);
}

}  // namespace
}  // namespace trainbench
