// SPDX-License-Identifier: MIT

#include "benchmarks/transfer/transfer.h"

#include <torch/types.h>

#include <set>

#include "fixtures/memory/memory_probe.h"
#include "tests/support/cuda_test.h"

namespace trainbench {
namespace {

constexpr int64_t kBytes = 40'000;

TEST(TransferTest, OnTheHostTheBytesArriveOrAreMissed) {
  for (const TransferKind kind : TransferKinds(at::kCPU)) {
    Transfer transfer(kind, kBytes, at::kCPU);
    transfer.Enqueue();
    EXPECT_EQ(transfer.CheckArrived(), absl::OkStatus());
    transfer.Poison();
    EXPECT_EQ(
        transfer.CheckArrived(),
        absl::FailedPreconditionError("5000 of 5000 words did not arrive"));
  }
}

TEST(TransferTest, EachDeviceHasKindsOfItsOwn) {
  std::set<TransferKind> all;
  for (const c10::DeviceType device : {c10::kCPU, c10::kCUDA}) {
    for (const TransferKind kind : TransferKinds(device)) {
      EXPECT_TRUE(all.insert(kind).second);
    }
  }
  EXPECT_EQ(all.size(), 7U);
}

TEST(TransferTest, OneMemoryIsLoadedTwiceByACopyWithinIt) {
  using enum TransferKind;
  for (const TransferKind twice : {kMemcpy, kD2d}) {
    EXPECT_EQ(TransferTraffic(twice, 1 << 30), 2.0 * (1 << 30));
  }
  for (const TransferKind once :
       {kMemset, kH2dPinned, kH2dPageable, kD2hPinned, kD2hPageable}) {
    EXPECT_EQ(TransferTraffic(once, 1 << 30), 1.0 * (1 << 30));
  }
}

using CudaTransferTest = CudaTest;
TEST_F(CudaTransferTest, BytesArriveAndFillTheMemory) {
  const at::Device gpu(at::kCUDA, 0);
  constexpr int64_t kMany = 64 << 20;
  for (const TransferKind kind : TransferKinds(at::kCUDA)) {
    const auto probe = MakeMemoryProbe(gpu);
    const int64_t before = probe->LiveBytes();
    Transfer transfer(kind, kMany, gpu);
    transfer.Poison();
    const MemoryPeak peak = probe->MeasurePeak([&] { transfer.Enqueue(); });
    // Page-locked host memory does not count.
    EXPECT_EQ(peak.allocated - before,
              (kind == TransferKind::kD2d ? 2 : 1) * kMany);
    EXPECT_EQ(transfer.CheckArrived(), absl::OkStatus());
  }
}

}  // namespace
}  // namespace trainbench
