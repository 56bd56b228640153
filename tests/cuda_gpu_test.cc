// SPDX-License-Identifier: MIT
// What only a GPU can show: its clock, its allocator, its arithmetic.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "fixtures/case_runner.h"
#include "fixtures/cuda_support.h"
#include "fixtures/device.h"
#include "fixtures/memory_probe.h"
#include "fixtures/spin.h"
#include "fixtures/timer.h"
#include "model/accounting/memory.h"
#include "model/precision_scope.h"
#include "model/verification.h"
#include "tests/fake_workload.h"

namespace trainbench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;

using Kind = CaseOutcome::Kind;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr char kNoGpu[] = "no CUDA device";

at::TensorOptions OnGpu(at::ScalarType dtype) {
  return at::TensorOptions().device(at::kCUDA, 0).dtype(dtype);
}

at::Tensor Allocate(int64_t mebibytes) {
  return at::empty({mebibytes * kMiB}, OnGpu(at::kByte));
}

double PhaseUs(const Sample& sample, Phase phase) {
  return sample.phase_us[static_cast<std::size_t>(phase)];
}

TEST(CudaDeviceTest, PropertiesArePlausible) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  const CudaProperties gpu = GetCudaProperties(0);
  EXPECT_NE(gpu.name, "");
  EXPECT_GT(gpu.memory_bytes, 1024 * kMiB);
  EXPECT_GT(gpu.l2_bytes, 0);
  EXPECT_GT(gpu.multiprocessors, 0);
  EXPECT_GE(gpu.capability, 50);
  EXPECT_LT(gpu.capability, 1000);
  EXPECT_GT(gpu.clock_mhz, 100);
  EXPECT_LT(gpu.clock_mhz, 10'000);
  EXPECT_GT(CudaFreeBytes(0), 0);
  EXPECT_LE(CudaFreeBytes(0), gpu.memory_bytes);
  EXPECT_THAT(CudaVersions(), Contains(Key("cuda_driver")));
}

TEST(CudaDeviceTest, IsWhatAutoAndCudaOpen) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  const CudaProperties gpu = GetCudaProperties(0);
  for (const char* which : {"auto", "cuda"}) {
    const auto device = OpenDevice(which);
    ASSERT_TRUE(device.ok()) << device.status();
    EXPECT_TRUE(device->is_cuda());
    EXPECT_EQ(device->name, gpu.name);
    EXPECT_EQ(device->cores, gpu.multiprocessors);
    EXPECT_GT(device->flops_bound.value_or(1e13), 1e12);
    EXPECT_LE(device->FreeBytes(), device->memory_bytes);
  }
}

TEST(CudaClockTest, TimesAMatmulOnTheDeviceAndNotOnTheHost) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  const at::Tensor a = at::randn({8192, 8192}, OnGpu(at::kFloat));
  at::Tensor product = at::mm(a, a);  // warm
  const std::unique_ptr<Clock> clock = MakeCudaClock(0);
  Timer timer(*clock);
  const Sample sample =
      timer.Time([&](PhaseObserver&) { at::mm_out(product, a, a); });
  // 1.1e12 FLOP: a millisecond at 1000 TFLOP/s.
  EXPECT_GT(sample.total_us, 1000);
  EXPECT_GT(sample.host_us, 0);
  EXPECT_LT(sample.host_us, 0.5 * sample.total_us);
}

TEST(CudaClockTest, AgreesWithTheDevicesOwnClock) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  const Device device = *OpenDevice("cuda");
  const std::unique_ptr<Clock> clock = device.MakeClock();
  Timer timer(*clock);
  Sample sample;
  for (int i = 0; i < 3; ++i) {
    sample = timer.Time([&](PhaseObserver& phases) {
      phases.Enter(Phase::kForward);
      SpinFor(4000, device);
      phases.Enter(Phase::kBackward);
      SpinFor(8000, device);
    });
  }
  EXPECT_NEAR(sample.total_us, 12'000, 120);
  EXPECT_NEAR(PhaseUs(sample, Phase::kForward), 4000, 40);
  EXPECT_NEAR(PhaseUs(sample, Phase::kBackward), 8000, 80);
  EXPECT_LT(sample.host_us, 6000) << "the host waited";
}

TEST(CudaMemoryProbeTest, PeakIsTheMostThatWasAliveAtOnce) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  const auto probe = MakeMemoryProbe(c10::Device(c10::kCUDA, 0));
  const int64_t before = probe->LiveBytes();
  const MemoryPeak peak = probe->MeasurePeak([] {
    const at::Tensor a = Allocate(4);
    {
      const at::Tensor b = Allocate(4);
      const at::Tensor c = Allocate(4);  // 12 MiB here
    }
    const at::Tensor d = Allocate(6);  // 10 MiB here
  });
  EXPECT_EQ(peak.allocated - before, 12 * kMiB);
  ASSERT_TRUE(peak.reserved.has_value());
  EXPECT_GE(*peak.reserved, peak.allocated);
  EXPECT_EQ(probe->LiveBytes(), before);
  EXPECT_EQ(probe->MeasurePeak([] { Allocate(2); }).allocated - before,
            2 * kMiB)
      << "each peak starts anew";
}

TEST(CudaMemoryProbeTest, WhatWasCachedBeforeIsNotReservedByTheCall) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  const auto probe = MakeMemoryProbe(c10::Device(c10::kCUDA, 0));
  Allocate(1024);  // freed, but kept by the caching allocator
  const int64_t live = probe->LiveBytes();
  const MemoryPeak peak = probe->MeasurePeak([] { Allocate(4); });
  EXPECT_LT(*peak.reserved, live + 512 * kMiB);
  EXPECT_EQ(peak.net_bytes, 0);
}

class CudaCaseRunnerTest : public testing::Test {
 protected:
  CudaCaseRunnerTest() {
    options_.warmup_calls = 1;
    options_.sampling_seconds = 0;
  }
  CaseOutcome Run(const Device& device, const Script& script) {
    CaseRunner runner(device, options_, [](absl::string_view) {});
    return runner.Run(MakeFakeCase("e", script));
  }

  RunOptions options_;
};

TEST_F(CudaCaseRunnerTest, AGoodCaseHasItsTimeAndItsMemory) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  const Device device = *OpenDevice("cuda");
  Script script;
  script.run = [&](PhaseObserver& phases) {
    phases.Enter(Phase::kForward);
    const at::Tensor scratch = Allocate(8);
    SpinFor(2000, device);
  };
  const CaseOutcome outcome = Run(device, script);
  ASSERT_EQ(outcome.kind, Kind::kGood) << outcome.reason;
  EXPECT_NEAR(outcome.median_us, 2000, 40);
  EXPECT_GE(outcome.counters.at("peak_bytes"), 8.0 * kMiB);
  EXPECT_GE(outcome.counters.at("peak_reserved_bytes"),
            outcome.counters.at("peak_bytes"));
  EXPECT_EQ(outcome.counters.at("launch_bound"), 0);
}

TEST_F(CudaCaseRunnerTest, OutOfMemoryIsAnErrorAndTheNextCaseRuns) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  const Device device = *OpenDevice("cuda");
  Script script;
  script.run = [](PhaseObserver&) { Allocate(int64_t{1} << 30); };
  const CaseOutcome outcome = Run(device, script);
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_THAT(outcome.reason, HasSubstr("out of memory"));
  EXPECT_EQ(Run(device, {}).kind, Kind::kGood);
}

// A failed assertion in a kernel makes every later call fail, those that
// release memory too. In a process of its own, which is lost with its context.
TEST_F(CudaCaseRunnerTest, ALostDeviceIsAnErrorAndNotTheEnd) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto lose = [&] {
    const Device device = *OpenDevice("cuda");
    Script script;
    script.run = [](PhaseObserver&) {
      const at::Tensor table = at::zeros({4, 4}, OnGpu(at::kFloat));
      at::embedding(table, at::full({1}, 99, OnGpu(at::kLong)));
    };
    const bool is_error = Run(device, script).kind == Kind::kError;
    std::_Exit(is_error ? 0 : 1);
  };
  EXPECT_EXIT(lose(), testing::ExitedWithCode(0), "");
}

TEST(CudaModelTest, StepsAreRightInEveryPrecision) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  for (const Precision precision : kPrecisions) {
    for (const auto attention : {AttentionKind::kNaive, AttentionKind::kSdpa}) {
      for (const auto kind : {AdamWKind::kTextbook, AdamWKind::kFused}) {
        at::manual_seed(1);
        const MatmulScope matmul(precision);
        TransformerLm model(ModelConfig{"m", 128, 512, 4, 4, 1000, attention},
                            OnGpu(WeightType(precision)));
        AdamW optimizer(Parameters(model), kind);
        EXPECT_EQ(
            VerifyStep(StepMode::kTrainStep, model, &optimizer, precision),
            absl::OkStatus())
            << PrecisionName(precision) << " " << AttentionName(attention)
            << " " << AdamWName(kind);
      }
    }
  }
}

// Peak of one step, without what was live before the model was built.
int64_t MeasureStep(const MemoryQuery& query) {
  const MatmulScope matmul(query.precision);
  const auto probe = MakeMemoryProbe(c10::Device(c10::kCUDA, 0));
  const int64_t before = probe->LiveBytes();
  TransformerLm model(query.config, OnGpu(WeightType(query.precision)));
  std::optional<AdamW> optimizer;
  if (query.mode == StepMode::kTrainStep) {
    optimizer.emplace(Parameters(model), AdamWKind::kFused);
  }
  const Batch batch = RandomBatch(query.config.vocab, query.batch, query.seq,
                                  c10::Device(c10::kCUDA, 0));
  NullObserver nobody;
  const auto step = [&] {
    RunStep(query.mode, model, optimizer ? &*optimizer : nullptr, batch,
            query.precision, nobody);
  };
  probe->Observe(step);  // makes the rotary tables
  return probe->MeasurePeak(step).allocated - before;
}

TEST(CudaModelTest, PredictedPeakIsWithinTwoPercent) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  // Powers of two: of other sizes the allocator counts up to a mebibyte more.
  const MemoryQuery matrices = {{"m", 512, 2048, 4, 8, 8192}, 4, 256};
  const MemoryQuery scores = {{"s", 256, 1024, 2, 8, 1024}, 2, 1024};
  for (MemoryQuery query : {matrices, scores}) {
    for (const Precision precision :
         {Precision::kFp32, Precision::kBf16Autocast}) {
      for (const StepMode mode : {StepMode::kInference, StepMode::kTrainStep}) {
        query.precision = precision;
        query.mode = mode;
        // The first time cuBLAS takes its workspace, for good.
        MeasureStep(query);
        CudaEmptyCache();
        const auto measured = static_cast<double>(MeasureStep(query));
        const auto predicted =
            static_cast<double>(EstimateMemory(query).peak.bytes);
        EXPECT_NEAR(predicted / measured, 1, 0.02)
            << query.config.name << " " << PrecisionName(precision) << " "
            << StepModeName(mode) << " " << measured;
      }
    }
  }
}

}  // namespace
}  // namespace trainbench
