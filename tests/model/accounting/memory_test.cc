// SPDX-License-Identifier: MIT
// Predictions of memory against the allocator.

#include "model/accounting/memory.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "fixtures/memory/memory_probe.h"
#include "model/accounting/library.h"
#include "model/accounting/parameters.h"
#include "model/nn/dtype.h"
#include "model/training/adamw.h"
#include "model/training/precision_scope.h"
#include "model/training/train_step.h"

namespace trainbench {
namespace {

// In fp32 all but numbers is predicted. CPUs differ in how they multiply bf16.
double Tolerance(Precision precision) {
  return precision == Precision::kFp32 ? 0.001 : 0.02;
}

struct Shape {
  ModelConfig config;
  int64_t batch, seq;
};

std::vector<Shape> Shapes() {
  constexpr Implementation kFused = Implementation::kFused,
                           kLibrary = Implementation::kLibrary,
                           kTextbook = Implementation::kTextbook;
  using enum AttentionKind;
  using enum Checkpointing::Kind;
  return {
      {{"balanced", 64, 192, 2, 4, 256}, 2, 32},
      {{"balanced", 64, 192, 2, 4, 256}, 4, 64},
      {{"vocabulary", 32, 64, 1, 2, 8000}, 1, 24},
      {{"vocabulary", 32, 64, 1, 2, 8000}, 3, 48},
      {{"attention", 32, 64, 2, 4, 128}, 1, 256},
      {{"attention", 32, 64, 2, 4, 128}, 1, 512},
      {{"feedforward", 64, 1024, 2, 2, 64}, 2, 32},
      {{"feedforward", 64, 1024, 2, 2, 64}, 8, 48},
      {{"sdpa", 64, 192, 2, 4, 256, kSdpa}, 2, 64},
      {{"sdpa", 64, 192, 2, 4, 256, kSdpa}, 2, 256},
      {{"math", 64, 192, 2, 4, 256, kSdpaMath}, 2, 96},
      {{"tiled", 64, 192, 2, 4, 256, kTiled}, 2, 96},
      {{"own", 64, 192, 2, 4, 256, kOwn}, 8, 128},
      {{"fused", 64, 192, 2, 4, 256, kOwn, kFused}, 2, 64},
      {{"fused", 64, 192, 2, 4, 256, kSdpa, kFused}, 2, 256},
      {{"fused_wide", 64, 1024, 2, 2, 64, kOwn, kFused}, 2, 32},
      {{"fused_vocabulary", 32, 64, 1, 2, 8000, kOwn, kFused}, 3, 48},
      {{"fused_odd", 36, 50, 3, 3, 101, kOwn, kFused}, 3, 47},
      {{"fused_naive", 64, 192, 2, 4, 256, kNaive, kFused}, 2, 96},
      {{"library", 64, 192, 2, 4, 256, kSdpa, kLibrary}, 2, 64},
      {{"library", 32, 64, 1, 2, 8000, kNaive, kLibrary}, 3, 48},
      {{"narrow", 96, 32, 3, 4, 64}, 4, 32},
      {{"narrow", 128, 64, 2, 4, 64, kSdpa}, 2, 96},
      {{"one_head", 32, 24, 2, 1, 48}, 3, 64},
      {{"fused_narrow", 128, 64, 2, 4, 64, kOwn, kFused}, 2, 96},
      {{"odd", 36, 50, 3, 3, 101}, 3, 47},
      {{"odd", 36, 50, 3, 3, 101}, 2, 131},
      {{"every_1", 64, 192, 7, 4, 256, kNaive, kTextbook, {kBlocks, 1}}, 2, 64},
      {{"every_2", 64, 192, 11, 4, 256, kNaive, kLibrary, {kBlocks, 2}}, 2, 64},
      {{"every_5", 64, 192, 12, 4, 256, kSdpa, kTextbook, {kBlocks, 5}}, 2, 32},
      {{"every_sqrt", 64, 192, 16, 4, 256, kOwn, kFused, {kBlocks}}, 2, 64},
      {{"every_20", 64, 192, 8, 4, 64, kOwn, kFused, {kBlocks, 20}}, 2, 64},
      {{"core", 32, 64, 6, 4, 128, kNaive, kTextbook, {kAttention}}, 1, 96},
      {{"core", 32, 64, 6, 4, 128, kNaive, kFused, {kAttention}}, 2, 96}};
}

// A model with what a step needs, all of it in the account of a probe.
class MeasuredJob {
 public:
  explicit MeasuredJob(const MemoryQuery& query) : query_(query) {
    // Attention on the CPU takes a buffer per thread; one is in no way special,
    // but the same on every machine.
    at::set_num_threads(1);
    at::manual_seed(1);
    probe_->Observe([&] {
      model_ = TransformerLm(
          query.config, at::TensorOptions().dtype(WeightType(query.precision)));
      if (query.mode == StepMode::kTrainStep) {
        optimizer_.emplace(Parameters(model_), AdamWKind::kFused);
      }
      batch_ =
          RandomBatch(query.config.vocab, query.batch, query.seq, at::kCPU);
      Run();  // makes the rotary tables
    });
  }

  void Run() {
    RunStep(query_.mode, model_, optimizer_ ? &*optimizer_ : nullptr, batch_,
            query_.precision, observer_);
  }

  // Peak of a warm step.
  MemoryPeak Peak() {
    return probe_->MeasurePeak([&] { Run(); });
  }

  int64_t LiveBytes() const { return probe_->LiveBytes(); }

  // What the graph holds between the forward and the backward pass.
  int64_t SavedBytes() {
    const int64_t resident = LiveBytes();
    at::Tensor logits;
    probe_->Observe([&] {
      const AutocastScope autocast(query_.precision, at::kCPU);
      logits = model_(batch_.tokens);
    });
    const int64_t saved =
        LiveBytes() - resident - static_cast<int64_t>(logits.nbytes());
    probe_->Observe([&] { logits.reset(); });
    return saved;
  }

 private:
  MemoryQuery query_;
  std::unique_ptr<MemoryProbe> probe_ = MakeMemoryProbe(at::kCPU);
  TransformerLm model_{nullptr};
  std::optional<AdamW> optimizer_;
  Batch batch_;
  NullObserver observer_;
};

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.config.name;
}

using Point = std::tuple<Shape, Precision, StepMode>;

std::string NameOf(const testing::TestParamInfo<Point>& info) {
  const auto& [shape, precision, mode] = info.param;
  return shape.config.name + "_" + std::to_string(shape.batch) + "x" +
         std::to_string(shape.seq) + "_" +
         std::string(PrecisionName(precision)) + "_" +
         std::string(StepModeName(mode));
}

class MemoryTest : public testing::TestWithParam<Point> {
 protected:
  MemoryTest() {
    const auto& [shape, precision, mode] = GetParam();
    query_ = {.config = shape.config,
              .batch = shape.batch,
              .seq = shape.seq,
              .precision = precision,
              .mode = mode,
              .threads = 1};
  }
  MemoryQuery query_;
};

TEST_P(MemoryTest, TensorsAreWithinTwoPercentAndLibrariesWithinTheirBound) {
  MeasuredJob workload(query_);
  const MemoryEstimate estimate = EstimateMemory(query_);
  const int64_t resident = estimate.parameter_bytes + estimate.optimizer_bytes +
                           estimate.input_bytes;
  EXPECT_EQ(workload.LiveBytes(), resident);
  const MemoryPeak measured = workload.Peak();
  const auto peak = static_cast<double>(measured.allocated);
  EXPECT_NEAR(static_cast<double>(estimate.peak.bytes), peak,
              Tolerance(query_.precision) * peak)
      << "off by " << static_cast<double>(estimate.peak.bytes) / peak - 1
      << " at " << estimate.peak.name;
  EXPECT_EQ(workload.LiveBytes(), resident) << "after the step";
  EXPECT_LE(measured.library_bytes,
            LibraryBytesBound(
                {.precision = query_.precision,
                 .fp32_by_onednn =
                     query_.config.implementation == Implementation::kFused,
                 .result_elements = LargestProductElements(query_, 1)}));
}

INSTANTIATE_TEST_SUITE_P(
    Grid, MemoryTest,
    testing::Combine(testing::ValuesIn(Shapes()),
                     testing::Values(Precision::kFp32, Precision::kBf16Autocast,
                                     Precision::kBf16),
                     testing::ValuesIn(kStepModes)),
    NameOf);

TEST(SavedBytesTest, AreWithinTwoPercentOfWhatTheGraphHolds) {
  for (const Shape& shape : Shapes()) {
    for (const Precision precision : kPrecisions) {
      const MemoryQuery query = {shape.config, shape.batch, shape.seq,
                                 precision, StepMode::kForward};
      const auto saved = static_cast<double>(MeasuredJob(query).SavedBytes());
      EXPECT_NEAR(static_cast<double>(SavedBytes(query)), saved,
                  Tolerance(precision) * saved)
          << shape.config.name << " " << shape.seq << " "
          << PrecisionName(precision);
    }
  }
}

// As the ranks of a job keep them: each gradient is added to its place in the
// buffer when it is complete.
TEST(GradientBufferTest, ThePeakIsThatOfAStepWithItsGradientsInOneBuffer) {
  for (const Shape& shape : Shapes()) {
    const MemoryQuery query = {.config = shape.config,
                               .batch = shape.batch,
                               .seq = shape.seq,
                               .mode = StepMode::kForwardBackward,
                               .threads = 1};
    at::set_num_threads(1);
    const auto probe = MakeMemoryProbe(at::kCPU);
    TransformerLm model{nullptr};
    at::Tensor buffer;
    Batch batch;
    NullObserver observer;
    const auto step = [&] {
      ComputeGradients(model, batch, query.precision, observer);
    };
    probe->Observe([&] {
      model = TransformerLm(query.config, at::TensorOptions());
      batch = RandomBatch(query.config.vocab, query.batch, query.seq, at::kCPU);
      buffer = at::zeros({ParameterCount(query.config)});
      int64_t offset = 0;
      for (const at::Tensor& parameter : Parameters(model)) {
        parameter.mutable_grad() =
            buffer.narrow(0, offset, parameter.numel()).view_as(parameter);
        offset += parameter.numel();
      }
      step();  // makes the rotary tables
    });
    const auto peak = static_cast<double>(probe->MeasurePeak(step).allocated);
    EXPECT_NEAR(
        static_cast<double>(PeakWithGradientBuffer(
            EstimateMemory(query), static_cast<int64_t>(buffer.nbytes()))),
        peak, 0.02 * peak)
        << shape.config.name;
  }
}

TEST(TensorBytesTest, AreThoseOfTheRealResidualStreamAndLogits) {
  const ModelConfig config = {"m", 36, 50, 3, 3, 101};
  for (const Precision precision : kPrecisions) {
    TransformerLm model(config,
                        at::TensorOptions().dtype(WeightType(precision)));
    const Batch batch = RandomBatch(config.vocab, 3, 47, at::kCPU);
    const AutocastScope autocast(precision, at::kCPU);
    const MemoryEstimate estimate =
        EstimateMemory({config, 3, 47, precision, StepMode::kInference});
    const auto bytes = [](const at::Tensor& tensor) {
      return static_cast<int64_t>(tensor.nbytes());
    };
    EXPECT_EQ(estimate.residual_bytes,
              bytes(model->token_embeddings(batch.tokens)))
        << PrecisionName(precision);
    EXPECT_EQ(estimate.logit_bytes, bytes(model(batch.tokens)))
        << PrecisionName(precision);
  }
}

}  // namespace
}  // namespace trainbench
