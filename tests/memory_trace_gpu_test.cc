// SPDX-License-Identifier: MIT

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "fixtures/cuda_support.h"
#include "fixtures/memory_probe.h"
#include "fixtures/memory_trace.h"
#include "model/train_step.h"

namespace trainbench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace fs = std::filesystem;

constexpr char kNoGpu[] = "no CUDA device";

std::string Read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(CudaAllocationRecorderTest, SeesWhatTheAllocatorsStatisticsSee) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  const c10::Device gpu(c10::kCUDA, 0);
  TransformerLm model(ModelConfig{"m", 128, 512, 2, 4, 1000},
                      at::TensorOptions().device(gpu));
  const Batch batch = RandomBatch(1000, 2, 64, gpu);
  const auto step = [&](PhaseObserver& phases) {
    RunStep(StepMode::kForwardBackward, model, nullptr, batch, Precision::kFp32,
            phases);
  };
  NullObserver nobody;
  step(nobody);  // takes cuBLAS's workspaces
  const auto probe = MakeMemoryProbe(gpu);
  const int64_t before = probe->LiveBytes();
  const MemoryPeak peak = probe->MeasurePeak([&] { step(nobody); });
  AllocationRecorder recorder(gpu);
  const AllocationTimeline timeline = recorder.Record(step);
  EXPECT_EQ(timeline.live_before, 0);
  EXPECT_EQ(timeline.live_after, 0);
  EXPECT_EQ(timeline.peak_bytes, peak.allocated - before);
  // The engine runs on a thread of its own here.
  bool in_backward = false;
  for (const AllocationEvent& event : timeline.events) {
    in_backward |=
        event.op == "aten::mm (MmBackward0)" && event.phase == Phase::kBackward;
  }
  EXPECT_TRUE(in_backward);
}

TEST(CudaMemoryTraceTest, WritesTheSnapshotBesideTheCsv) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  const c10::Device gpu(c10::kCUDA, 0);
  const fs::path directory = fs::path(testing::TempDir()) / "cuda_memory_trace";
  fs::remove_all(directory);
  AllocationRecorder recorder(gpu);
  const auto timeline = RecordAllocations(
      recorder,
      [&](PhaseObserver&) {
        const at::Tensor a = at::ones({1 << 20}, at::device(gpu));
        const at::Tensor b = a + a;
      },
      directory.string(), "memory/tiny/seq:8");
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  EXPECT_EQ(timeline->peak_bytes, int64_t{8} << 20);
  EXPECT_THAT(Read(directory / "memory_tiny_seq_8.csv"),
              HasSubstr(",alloc,4194304,aten::add,"));
  const std::string pickle = Read(directory / "memory_tiny_seq_8.pickle");
  EXPECT_THAT(pickle, StartsWith("\x80\x02"));  // protocol 2
  for (const char* key :
       {"segments", "device_traces", "free_completed", "frames", "libtorch"}) {
    EXPECT_NE(pickle.find(key), std::string::npos) << key;
  }
  fs::remove_all(directory);
}

TEST(CudaMemoryHistoryTest, EndsWithTheObject) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  const auto allocate = [] {
    at::ones({1 << 20}, at::device(at::kCUDA));  // and free
  };
  std::string during, after;
  {
    const CudaMemoryHistory history;
    allocate();
    during = history.Snapshot();
  }
  allocate();
  {
    const CudaMemoryHistory history;  // begins anew
    after = history.Snapshot();
  }
  EXPECT_THAT(during, HasSubstr("free_completed"));
  EXPECT_THAT(after, Not(HasSubstr("free_completed")));
}

}  // namespace
}  // namespace trainbench
