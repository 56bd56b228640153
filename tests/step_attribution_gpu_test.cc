// SPDX-License-Identifier: MIT
// Attribution of a real step's kernels.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include "fixtures/attribution.h"
#include "fixtures/cuda_support.h"
#include "fixtures/model_step.h"
#include "fixtures/profiler.h"
#include "fixtures/ranged_phases.h"
#include "fixtures/step_parts.h"
#include "model/accounting/flops.h"

namespace trainbench {
namespace {

class StepAttributionGpuTest : public ::testing::TestWithParam<Precision> {};

TEST_P(StepAttributionGpuTest, EveryPartHasKernelsAndAlmostAllAreAttributed) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << "no CUDA device";
  const auto device = OpenDevice("cuda");
  ASSERT_TRUE(device.ok()) << device.status();
  for (const AttentionKind attention :
       {AttentionKind::kNaive, AttentionKind::kSdpa}) {
    StepParams params = {*FindModel("tiny", StandardModels()), GetParam(),
                         StepMode::kTrainStep, 2, 64};
    params.model.attention = attention;
    ModelStep step(params, *device);
    NullObserver nobody;
    step.Run(nobody);
    const auto trace = Profile(*device, [&] {
      RangedPhases phases(nobody);
      step.Run(phases);
    });
    ASSERT_TRUE(trace.ok()) << trace.status();
    const auto parts = PartsOf(params, TimeOf::kDeviceWork);
    Attribution result = Attribute(*trace, TimeOf::kDeviceWork);
    RestrictTo(parts, result);
    EXPECT_GT(result.total_ns, 0);
    EXPECT_LE(result.unattributed_share(), 0.02)
        << result.unattributed.top_name;
    for (const StepPart& part : parts) {
      const auto spent = SpentOn(part, result);
      EXPECT_TRUE(spent.ok()) << spent.status();
    }
    EXPECT_GT(result.phases[Phase::kBackward].matmul_ns, 0);
    if (attention == AttentionKind::kNaive) {
      EXPECT_EQ(result.phases[Phase::kForward].flops,
                ForwardFlops(params.model, params.batch, params.seq));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, StepAttributionGpuTest,
                         ::testing::Values(Precision::kFp32,
                                           Precision::kBf16Autocast,
                                           Precision::kBf16));

}  // namespace
}  // namespace trainbench
