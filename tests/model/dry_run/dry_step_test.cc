// SPDX-License-Identifier: MIT
// Dry steps compared with real ones, on the CPU's allocator.

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/device/device.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/memory/memory_probe.h"
#include "model/accounting/flops.h"
#include "model/dry_run/dry_run.h"
#include "model/nn/dtype.h"
#include "model/spec/attention_variant.h"
#include "model/spec/named_models.h"
#include "model/training/adamw.h"
#include "model/training/train_step.h"
#include "tests/model/step_bytes.h"
#include "tests/support/architectures.h"

namespace trainbench {
namespace {

struct Job {
  ModelConfig config;
  int64_t batch = 1, seq = 1;
  Precision precision = Precision::kFp32;
  StepMode mode = StepMode::kTrainStep;
};

std::string TextOf(const Job& job) {
  return FormatModel(job.config) + " " + std::to_string(job.batch) + "x" +
         std::to_string(job.seq) + " " +
         std::string(PrecisionName(job.precision)) + " " +
         std::string(StepModeName(job.mode));
}

// A model, optimizer and batch; Run() makes a step.
class WarmStep {
 public:
  WarmStep(const Job& job, at::Device device)
      : job_(job),
        model_(job.config, at::device(device).dtype(WeightType(job.precision))),
        batch_(RandomBatch(job.config.vocab, job.batch, job.seq, device)) {
    if (job.mode == StepMode::kTrainStep) {
      optimizer_.emplace(Parameters(model_), AdamWKind::kFused);
    }
    Run();  // creates the rotary tables
  }

  void Run() {
    NullObserver observer;
    RunStep(job_.mode, model_, optimizer_ ? &*optimizer_ : nullptr, batch_,
            job_.precision, observer);
  }

 private:
  Job job_;
  TransformerLm model_;
  Batch batch_;
  std::optional<AdamW> optimizer_;
};

StepBytes BytesOfStep(const Job& job, at::Device device = at::kCPU) {
  return BytesOf(device,
                 [&] { return std::make_unique<WarmStep>(job, device); });
}

StepBytes DryBytesOfStep(const Job& job, at::Device device = at::kCPU) {
  const DryRun dry;
  return BytesOfStep(job, device);
}

double DryFlopsOfStep(const Job& job) {
  double flops = 0;
  const DryRun dry([&](const DryOperator& more) { flops += more.flops; });
  WarmStep step(job, at::kCPU);
  flops = 0;
  step.Run();
  return flops;
}

constexpr Implementation kFused = Implementation::kFused,
                         kLibrary = Implementation::kLibrary,
                         kTextbook = Implementation::kTextbook;
constexpr Precision kDtypes[] = {Precision::kFp32, Precision::kBf16Autocast,
                                 Precision::kBf16};
using enum AttentionKind;
using enum Checkpointing::Kind;

// Three query heads share one head of keys and values.
ModelConfig Grouped(ModelConfig config) {
  config.kv_heads = config.heads / 3;
  return config;
}

ModelConfig Tied(ModelConfig config) {
  config.tied_embeddings = true;
  return config;
}

// Shapes in which different parts of a step have the peak.
std::vector<Job> Shapes() {
  return {
      {{"balanced", 64, 192, 2, 4, 256}, 4, 64},
      {{"vocabulary", 32, 64, 1, 2, 8000}, 3, 48},
      {{"attention", 32, 64, 2, 4, 128}, 1, 256},
      {{"feedforward", 64, 1024, 2, 2, 64}, 2, 32},
      {{"sdpa", 64, 192, 2, 4, 256, kSdpa}, 2, 256},
      {{"long", 32, 64, 1, 2, 64, kSdpaFlash}, 1, 800},
      {{"math", 64, 192, 2, 4, 256, kSdpaMath}, 2, 96},
      {{"tiled", 64, 192, 2, 4, 256, kTiled}, 2, 96},
      {{"own", 64, 192, 2, 4, 256, kOwn}, 8, 128},
      {{"fused", 64, 192, 2, 4, 256, kOwn, kFused}, 2, 64},
      {{"fused_vocabulary", 32, 64, 1, 2, 8000, kOwn, kFused}, 3, 48},
      {{"fused_naive", 64, 192, 2, 4, 256, kNaive, kFused}, 2, 96},
      {{"library", 64, 192, 2, 4, 256, kSdpa, kLibrary}, 2, 64},
      {{"odd", 36, 50, 3, 3, 101}, 3, 47},
      {{"every_2", 64, 192, 11, 4, 256, kNaive, kLibrary, {kBlocks, 2}}, 2, 64},
      {{"sqrt", 64, 192, 16, 4, 256, kOwn, kFused, {kBlocks}}, 2, 64},
      {{"core", 32, 64, 6, 4, 128, kNaive, kFused, {kAttention}}, 2, 96},
      {Tied({"tied", 32, 64, 1, 2, 8000}), 3, 48},
      {Grouped({"grouped", 96, 64, 2, 6, 128}), 2, 96},
      {Gpt({"gpt", 64, 192, 2, 4, 256, kSdpa, kLibrary}), 2, 64},
      {Gpt({"gpt_fused", 64, 192, 2, 4, 256, kOwn, kFused}), 2, 64},
      {Biased({"biased", 64, 192, 2, 4, 256}), 2, 64},
      {GateBiased({"gate", 64, 192, 2, 4, 256, kOwn, kFused}), 2, 64},
      {Grouped({"grouped_core", 96, 64, 2, 6, 128, kOwn, kFused, {kAttention}}),
       2, 64}};
}

// Randomly drawn jobs, the same ones each time.
std::vector<Job> RandomJobs(std::size_t count) {
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
  std::vector<Job> jobs;
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
    jobs.push_back({one_of(kArchitectures).of(config), draw(1, 5), draw(1, 150),
                    one_of(kDtypes), one_of(kStepModes)});
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
  for (Job job : Shapes()) {
    for (const Precision precision : kDtypes) {
      job.precision = precision;
      job.mode = kStepModes[count++ % kStepModes.size()];
      EXPECT_EQ(DryBytesOfStep(job), BytesOfStep(job)) << TextOf(job);
    }
  }
}

TEST_F(DryStepTest, OfRandomJobsTakesTheBytesOfARealStep) {
  for (const Job& job : RandomJobs(60)) {
    EXPECT_EQ(DryBytesOfStep(job), BytesOfStep(job)) << TextOf(job);
  }
}

TEST_F(DryStepTest, OnTwoThreadsTakesTheBytesOfARealStep) {
  at::set_num_threads(2);
  for (const AttentionKind attention : {kNaive, kSdpa, kOwn}) {
    const Job job = {
        {"threads", 64, 192, 2, 4, 256, attention}, 2, 256, Precision::kBf16};
    EXPECT_EQ(DryBytesOfStep(job), BytesOfStep(job)) << TextOf(job);
  }
}

// Attention that keeps no scores recomputes them; the formula ignores that, to
// keep attention kinds comparable.
double ScoresAgain(const Job& job) {
  const bool keeps =
      job.config.attention == kNaive || job.config.attention == kSdpaMath;
  return keeps || job.mode != StepMode::kForwardBackward
             ? 0
             : static_cast<double>(job.config.layers) *
                   LayerAttentionFlops(job.config, job.batch, job.seq) / 2;
}

TEST_F(DryStepTest, MultipliesWhatTheFormulaCounts) {
  for (Job job : Shapes()) {
    for (const StepMode mode :
         {StepMode::kForward, StepMode::kForwardBackward}) {
      job.mode = mode;
      const double formula =
          StepFlops(job.config, job.batch, job.seq, mode) +
          RecomputedFlops(job.config, job.batch, job.seq, mode);
      EXPECT_DOUBLE_EQ(DryFlopsOfStep(job), formula + ScoresAgain(job))
          << TextOf(job);
    }
  }
}

// No machine has the memory for it.
TEST_F(DryStepTest, OfALargeModelTakesNone) {
  const Job job = {*FindModel("8B", NamedModels()), 64, 32768};
  const StepBytes bytes = DryBytesOfStep(job);
  const auto logits = job.batch * job.seq * job.config.vocab * 4;
  EXPECT_GT(bytes.peak, bytes.resident + logits);
  EXPECT_EQ(bytes.after, bytes.resident);
}

// The bytes requested from the caching allocator, which allocates whole blocks.
int64_t RequestedPeak(const Job& job, at::Device device) {
  const auto probe = MakeMemoryProbe(device);
  WarmStep step(job, device);
  const MemoryPeak peak = probe->MeasurePeak([&] { step.Run(); });
  return peak.counts->requested - peak.library_bytes;
}

std::vector<Job> GpuJobs() {
  std::vector<Job> jobs;
  for (const Implementation implementation : kImplementations) {
    for (const AttentionKind attention :
         {kNaive, kTiled, kSdpa, kSdpaMath, kSdpaFlash, kSdpaEfficient,
          kSdpaCudnn, kOwn}) {
      for (const auto& [heads, seq] : {std::pair(2, 96), std::pair(4, 1000)}) {
        // LibTorch's sums over many rows need a buffer that is not modeled yet.
        if (implementation == kTextbook && seq == 1000) continue;
        jobs.push_back({{"gpu", heads * int64_t{64}, 192, 2, heads, 301,
                         attention, implementation},
                        2,
                        seq});
      }
    }
    ModelConfig grouped = jobs.back().config;
    grouped.kv_heads = 2;
    jobs.push_back({Tied(grouped), 2, 96});
  }
  return jobs;
}

TEST(CudaDryStepTest, RequestsTheBytesOfARealStep) {
  const auto gpu = OpenDevice("cuda");
  if (!gpu.ok()) GTEST_SKIP() << "no CUDA device";
  gpu->TakeLibraryMemory();
  const at::Device device = TorchDevice(*gpu);
  std::size_t count = 0;
  for (Job job : GpuJobs()) {
    for (const Precision precision : kDtypes) {
      job.precision = precision;
      job.mode = kStepModes[count++ % kStepModes.size()];
      const std::string why = AttentionUnavailable(
          job.config.attention, gpu->kind, precision != Precision::kFp32,
          job.config.d_head(), gpu->block_shared_bytes);
      if (!why.empty()) continue;
      EXPECT_EQ(DryBytesOfStep(job, device).peak, RequestedPeak(job, device))
          << TextOf(job);
    }
  }
}

}  // namespace
}  // namespace trainbench
