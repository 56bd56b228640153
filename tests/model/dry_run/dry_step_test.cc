// SPDX-License-Identifier: MIT
// Dry steps compared with real ones, on the CPU's allocator.

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/device/device.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/memory/memory_probe.h"
#include "fixtures/steps/model_step.h"
#include "model/accounting/flops.h"
#include "model/dry_run/dry_run.h"
#include "model/spec/attention_variant.h"
#include "tests/model/step_bytes.h"
#include "tests/support/architectures.h"
#include "tests/support/cuda_test.h"

namespace trainbench {
namespace {

std::string TextOf(const StepParams& job) {
  return FormatModel(job.model) + StepName("", job).text();
}

const Device& Cpu() {
  static const Device cpu = *OpenDevice("cpu");
  return cpu;
}

StepBytes BytesOfStep(const StepParams& job, const Device& device = Cpu()) {
  std::optional<ModelStep> step;
  return MeasureSteps(
      TorchDevice(device), [&] { step.emplace(job, device); },
      [&] { step->Step(NoObserver()); });
}

StepBytes DryBytesOfStep(const StepParams& job, const Device& device = Cpu()) {
  const DryRun dry;
  return BytesOfStep(job, device);
}

double DryFlopsOfStep(const StepParams& job) {
  double flops = 0;
  const DryRun dry([&](const DryOperator& more) { flops += more.flops; });
  ModelStep(job, Cpu()).Step(NoObserver());
  return flops;
}

constexpr Implementation kFused = Implementation::kFused,
                         kLibrary = Implementation::kLibrary;
constexpr Precision kDtypes[] = {Precision::kFp32, Precision::kBf16Autocast,
                                 Precision::kBf16};
using enum AttentionKind;
using enum Checkpointing::Kind;

StepParams Job(const ModelConfig& config, int64_t batch, int64_t seq) {
  return {.model = config, .batch = batch, .seq = seq};
}

// Shapes in which different parts of a step have the peak.
std::vector<StepParams> Shapes() {
  return {
      Job({"balanced", 64, 192, 2, 4, 256}, 4, 64),
      Job({"vocabulary", 32, 64, 1, 2, 8000}, 3, 48),
      Job({"attention", 32, 64, 2, 4, 128}, 1, 256),
      Job({"feedforward", 64, 1024, 2, 2, 64}, 2, 32),
      Job({"sdpa", 64, 192, 2, 4, 256, kSdpa}, 2, 256),
      Job({"long", 32, 64, 1, 2, 64, kSdpaFlash}, 1, 800),
      Job({"math", 64, 192, 2, 4, 256, kSdpaMath}, 2, 96),
      Job({"tiled", 64, 192, 2, 4, 256, kTiled}, 2, 96),
      Job({"own", 64, 192, 2, 4, 256, kOwn}, 8, 128),
      Job({"fused", 64, 192, 2, 4, 256, kOwn, kFused}, 2, 64),
      Job({"fused_vocabulary", 32, 64, 1, 2, 8000, kOwn, kFused}, 3, 48),
      Job({"fused_naive", 64, 192, 2, 4, 256, kNaive, kFused}, 2, 96),
      Job({"library", 64, 192, 2, 4, 256, kSdpa, kLibrary}, 2, 64),
      Job({"odd", 36, 50, 3, 3, 101}, 3, 47),
      Job({"pairs", 64, 96, 11, 4, 99, kNaive, kLibrary, {kBlocks, 2}}, 2, 64),
      Job({"sqrt", 64, 192, 16, 4, 256, kOwn, kFused, {kBlocks}}, 2, 64),
      Job({"core", 32, 64, 6, 4, 128, kNaive, kFused, {kAttention}}, 2, 96),
      Job(Tied({"tied", 32, 64, 1, 2, 8000}), 3, 48),
      Job(Grouped({"grouped", 96, 64, 2, 6, 128}), 2, 96),
      Job(Gpt({"gpt", 64, 192, 2, 4, 256, kSdpa, kLibrary}), 2, 64),
      Job(LayerNormed({"norm", 2048, 2, 1, 1, 2, kSdpa, kLibrary}), 1, 2),
      Job(Gpt({"gpt_fused", 64, 192, 2, 4, 256, kOwn, kFused}), 2, 64),
      Job(Biased({"biased", 64, 192, 2, 4, 256}), 2, 64),
      Job(GateBiased({"gate", 64, 192, 2, 4, 256, kOwn, kFused}), 2, 64),
      Job(Grouped(
              {"grouped_core", 96, 64, 2, 6, 128, kOwn, kFused, {kAttention}}),
          2, 64)};
}

// Randomly drawn jobs, the same ones each time.
std::vector<StepParams> RandomJobs(std::size_t count) {
  std::mt19937 random(28);
  const auto draw = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() %
                                      static_cast<uint32_t>(high - low + 1));
  };
  const auto one_of = [&](const auto& all) {
    return *(std::begin(all) + draw(0, std::ssize(all) - 1));
  };
  const auto divisor_of = [&](int64_t number) {
    int64_t divisor = draw(1, number);
    while (number % divisor != 0) --divisor;
    return divisor;
  };
  const AttentionKind attentions[] = {kNaive,    kTiled,     kSdpa,
                                      kSdpaMath, kSdpaFlash, kOwn};
  const Checkpointing checkpoints[] = {
      {}, {kBlocks, 1}, {kBlocks, 3}, {kBlocks}, {kAttention}};
  std::vector<StepParams> jobs;
  while (jobs.size() < count) {
    const int64_t heads = draw(1, 4);
    const ModelConfig config = {.name = "random",
                                .d_model = heads * 2 * draw(2, 17),
                                .d_ff = draw(3, 200),
                                .layers = draw(1, 5),
                                .heads = heads,
                                .vocab = draw(2, 900),
                                .attention = one_of(attentions),
                                .implementation = one_of(kImplementations),
                                .checkpointing = one_of(checkpoints),
                                .kv_heads = divisor_of(heads),
                                .tied_embeddings = draw(0, 1) == 1};
    const int64_t batch = draw(1, 5), seq = draw(1, 150);
    jobs.push_back(Job(one_of(kArchitectures).of(config), batch, seq));
    jobs.back().precision = one_of(kDtypes);
    jobs.back().mode = one_of(kStepModes);
  }
  return jobs;
}

class DryStepTest : public testing::Test {
 protected:
  // Attention on the CPU allocates a buffer for each thread.
  DryStepTest() { at::set_num_threads(1); }
};

// Tests each shape in each precision; the mode changes from one to the next.
TEST_F(DryStepTest, TakesTheBytesOfARealStep) {
  std::size_t count = 0;
  for (StepParams job : Shapes()) {
    for (const Precision precision : kDtypes) {
      job.precision = precision;
      job.mode = kStepModes[count++ % kStepModes.size()];
      EXPECT_EQ(DryBytesOfStep(job), BytesOfStep(job)) << TextOf(job);
    }
  }
}

TEST_F(DryStepTest, OfRandomJobsTakesTheBytesOfARealStep) {
  for (const StepParams& job : RandomJobs(60)) {
    at::set_num_threads(at::get_num_threads() == 1 ? 2 : 1);
    EXPECT_EQ(DryBytesOfStep(job), BytesOfStep(job)) << TextOf(job);
  }
}

// Where each of many threads has few rows, flash attention does not pack keys.
TEST_F(DryStepTest, OnSeveralThreadsTakesTheBytesOfARealStep) {
  StepParams few = Job({"few", 64, 64, 1, 4, 64, kSdpa}, 4, 64);
  few.mode = StepMode::kInference;
  std::vector<std::pair<int, StepParams>> jobs = {{31, few}, {32, few}};
  for (const AttentionKind attention : {kNaive, kSdpa, kOwn}) {
    jobs.emplace_back(2,
                      Job({"threads", 64, 192, 2, 4, 256, attention}, 2, 256));
  }
  for (auto& [threads, job] : jobs) {
    at::set_num_threads(threads);
    job.precision = Precision::kBf16;
    EXPECT_EQ(DryBytesOfStep(job), BytesOfStep(job)) << threads << TextOf(job);
  }
}

// Attention that keeps no scores recomputes them; the formula ignores that, to
// keep attention kinds comparable.
double ScoresAgain(const StepParams& job) {
  const bool keeps =
      job.model.attention == kNaive || job.model.attention == kSdpaMath;
  return keeps || job.mode != StepMode::kForwardBackward
             ? 0
             : static_cast<double>(job.model.layers) *
                   LayerAttentionFlops(job.model, job.batch, job.seq) / 2;
}

TEST_F(DryStepTest, MultipliesWhatTheFormulaCounts) {
  for (StepParams job : Shapes()) {
    for (const StepMode mode :
         {StepMode::kForward, StepMode::kForwardBackward}) {
      job.mode = mode;
      const double formula =
          StepFlops(job.model, job.batch, job.seq, mode) +
          RecomputedFlops(job.model, job.batch, job.seq, mode);
      EXPECT_DOUBLE_EQ(DryFlopsOfStep(job), formula + ScoresAgain(job))
          << TextOf(job);
    }
  }
}

// The bytes requested from the caching allocator, which allocates whole blocks.
int64_t RequestedPeak(const StepParams& job, const Device& device) {
  const auto probe = MakeMemoryProbe(TorchDevice(device));
  ModelStep step(job, device);
  step.Step(NoObserver());  // allocates the libraries' workspaces
  const MemoryPeak peak = probe->MeasurePeak([&] { step.Step(NoObserver()); });
  return peak.counts->requested - peak.library_bytes;
}

std::vector<StepParams> GpuJobs() {
  // At the peak of these a backward kernel of LibTorch takes memory.
  std::vector<StepParams> jobs = {
      Job({"tokens", 4096, 2, 2, 32, 32000, kOwn, kFused, {kBlocks, 1}}, 2,
          1600),
      Job(Gpt({"gpt", 1024, 64, 4, 16, 301, kSdpaFlash, kLibrary}), 16, 128),
      Job({"copies", 128, 4, 1, 2, 2, kSdpaFlash, kLibrary}, 64, 128),
      Job({"wide", 512, 4, 1, 2, 64, kSdpaEfficient, kLibrary}, 2, 1001)};
  for (StepParams& job : jobs) job.precision = Precision::kBf16;
  jobs.front().precision = Precision::kFp32;
  std::size_t count = 0;
  const auto add = [&](StepParams job) {
    for (const Precision precision : kDtypes) {
      job.precision = precision;
      job.mode = kStepModes[count++ % kStepModes.size()];
      jobs.push_back(job);
    }
  };
  for (const Implementation implementation : kImplementations) {
    for (const AttentionKind attention :
         {kNaive, kTiled, kSdpa, kSdpaMath, kSdpaFlash, kSdpaEfficient,
          kSdpaCudnn, kOwn}) {
      for (const auto& [heads, seq] : {std::pair(2, 96), std::pair(4, 1000)}) {
        add(Job({"gpu", heads * int64_t{64}, 192, 2, heads, 301, attention,
                 implementation},
                2, seq));
      }
    }
    ModelConfig grouped = Tied(jobs.back().model);
    grouped.kv_heads = 2;
    add(Job(grouped, 2, 96));
  }
  return jobs;
}

// Whether cuDNN, which `sdpa` may take on a real GPU, chooses its own
// workspace.
bool HasOwnWorkspace(const StepParams& job, const Device& gpu) {
  const AttentionKind attention = job.model.attention;
  return !gpu.null_gpu && (attention == kSdpa || attention == kSdpaCudnn);
}

using CudaDryStepTest = CudaTest;
TEST_F(CudaDryStepTest, RequestsTheBytesOfARealStep) {
  device_.TakeLibraryMemory();
  for (const StepParams& job : GpuJobs()) {
    if (!ModelStep::Unavailable(job, device_).empty()) continue;
    const int64_t requested = RequestedPeak(job, device_);
    const int64_t dry = DryBytesOfStep(job, device_).peak;
    if (HasOwnWorkspace(job, device_)) {
      EXPECT_LE(dry, requested + requested / 10) << TextOf(job);
    } else {
      EXPECT_EQ(dry, requested) << TextOf(job);
    }
  }
}

}  // namespace
}  // namespace trainbench
