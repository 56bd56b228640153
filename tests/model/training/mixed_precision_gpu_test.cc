// SPDX-License-Identifier: MIT
// The mixed-precision questions and the transfers, on a GPU.

#include <gtest/gtest.h>
#include <torch/types.h>

#include <optional>

#include "fixtures/device/cuda_support.h"
#include "fixtures/memory/memory_probe.h"
#include "model/ops/norm_arithmetic.h"
#include "model/ops/toy_model.h"
#include "model/ops/transfer.h"

namespace trainbench {
namespace {

class CudaMixedPrecisionTest : public testing::Test {
 protected:
  void SetUp() override {
    if (CudaDeviceCount() == 0) GTEST_SKIP() << "no CUDA device";
  }
  const at::Device gpu_{at::kCUDA, 0};
};

TEST_F(CudaMixedPrecisionTest, AutocastWidensTheLayerNorm) {
  at::manual_seed(1);
  ToyModel model(20, 5, gpu_);
  const ToyBatch data = RandomToyBatch(8, 20, 5, gpu_);
  NullObserver nobody;
  for (const at::ScalarType low : {at::kHalf, at::kBFloat16}) {
    absl::Status status = CompareDtypes(RunToyStep(model, data, low, nobody),
                                        DocumentedDtypes(low, at::kCUDA));
    EXPECT_TRUE(status.ok()) << status;
    status = CheckToyLogits(model, data.x, low);
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST_F(CudaMixedPrecisionTest, NormsRoundAsSimulated) {
  at::manual_seed(1);
  for (const NormKind kind : {NormKind::kRmsNorm, NormKind::kLayerNorm}) {
    for (const double magnitude : {1.0, 70.0, 300.0}) {
      for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16}) {
        for (const at::ScalarType internals : {dtype, at::kFloat}) {
          const at::Tensor x = NormalInput(64, 1024, magnitude, dtype, gpu_);
          const absl::Status status =
              CheckNorm(kind, x, internals, Normalize(kind, x, internals));
          EXPECT_TRUE(status.ok()) << status;
        }
      }
    }
  }
}

TEST_F(CudaMixedPrecisionTest, BytesArriveAndFillTheMemoryAsPredicted) {
  constexpr int64_t kBytes = 64 << 20;
  for (const TransferKind kind : TransferKinds(at::kCUDA)) {
    const auto probe = MakeMemoryProbe(gpu_);
    const int64_t before = probe->LiveBytes();
    Transfer transfer(kind, kBytes, gpu_);
    transfer.Poison();
    const MemoryPeak peak = probe->MeasurePeak([&] { transfer.Enqueue(); });
    EXPECT_EQ(peak.allocated - before, TransferMemory(kind, kBytes));
    const absl::Status status = transfer.CheckArrived();
    EXPECT_TRUE(status.ok()) << status;
  }
}

}  // namespace
}  // namespace trainbench
