// SPDX-License-Identifier: MIT
// The closed forms of attention alone against the allocator.

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/attention_scaling/attention_fwd_bwd.h"
#include "fixtures/memory/memory_probe.h"
#include "model/accounting/attention.h"
#include "model/accounting/library.h"

namespace trainbench {
namespace {

using testing::HasSubstr;

constexpr double kTolerance = 0.02;

// Attention with its inputs, all in the account of a probe.
class Measured {
 public:
  explicit Measured(const AttentionQuery& query) : query_(query) {
    at::set_num_threads(query.threads);
    at::manual_seed(1);
    const auto type = query.bf16 ? at::kBFloat16 : at::kFloat;
    probe_->Observe([&] {
      inputs_ = RandomAttentionInputs(query.batch, query.seq, query.d_head,
                                      at::TensorOptions().dtype(type));
    });
    Round();  // what is made once is made now
  }

  int64_t LiveBytes() const { return probe_->LiveBytes(); }

  int64_t SavedBytes() {
    const int64_t before = LiveBytes();
    at::Tensor out;
    probe_->Observe([&] { out = Forward(); });
    const int64_t saved = LiveBytes() - before;
    probe_->Observe([&] { out.reset(); });
    return saved;
  }

  int64_t ForwardPeak() {
    return probe_->MeasurePeak([&] { Forward(); }).allocated;
  }

  MemoryPeak Peak() {
    return probe_->MeasurePeak([&] { Round(); });
  }

 private:
  at::Tensor Forward() { return AttentionForward(query_.backend, inputs_); }

  void Round() { AttentionBackward(inputs_, Forward()); }

  AttentionQuery query_;
  std::unique_ptr<MemoryProbe> probe_ = MakeMemoryProbe(at::kCPU);
  AttentionInputs inputs_;
};

std::vector<AttentionQuery> Queries() {
  struct Shape {
    int64_t batch, seq, d_head;
    int threads;
  };
  // Tiles of flash attention change at 192, 512 and 768.
  const Shape shapes[] = {{4, 128, 32, 1}, {3, 256, 64, 1}, {2, 300, 16, 1},
                          {1, 512, 32, 1}, {3, 200, 16, 2}, {1, 800, 64, 1},
                          {5, 47, 10, 1},  {2, 64, 256, 1}};
  std::vector<AttentionQuery> queries;
  for (const Shape& s : shapes) {
    for (const bool bf16 : {false, true}) {
      for (const std::optional<SdpaBackend> backend :
           {std::optional<SdpaBackend>(), std::optional(SdpaBackend::kMath),
            std::optional(SdpaBackend::kFlash)}) {
        queries.push_back({.backend = backend,
                           .batch = s.batch,
                           .seq = s.seq,
                           .d_head = s.d_head,
                           .bf16 = bf16,
                           .threads = s.threads});
      }
    }
  }
  return queries;
}

std::string Describe(const AttentionQuery& q) {
  return std::string(q.backend ? SdpaBackendName(*q.backend) : "naive") +
         (q.bf16 ? " bf16 " : " fp32 ") + std::to_string(q.batch) + "x" +
         std::to_string(q.seq) + "x" + std::to_string(q.d_head) + " threads " +
         std::to_string(q.threads);
}

void ExpectNear(int64_t predicted, int64_t measured, const std::string& what) {
  const auto expected = static_cast<double>(measured);
  EXPECT_NEAR(static_cast<double>(predicted), expected, kTolerance * expected)
      << what << ": " << predicted << " v " << measured << ", off by "
      << static_cast<double>(predicted) / expected - 1;
}

TEST(AttentionMemoryTest, IsWithinTwoPercentOfTheAllocators) {
  for (const AttentionQuery& query : Queries()) {
    Measured measured(query);
    const AttentionMemory memory = EstimateAttention(query);
    EXPECT_EQ(memory.input_bytes, measured.LiveBytes()) << Describe(query);
    EXPECT_EQ(memory.saved_bytes, measured.SavedBytes()) << Describe(query);
    ExpectNear(memory.forward_peak.bytes, measured.ForwardPeak(),
               Describe(query) + " forward: " + memory.forward_peak.name);
    const MemoryPeak peak = measured.Peak();
    ExpectNear(memory.peak.bytes, peak.allocated,
               Describe(query) + ": " + memory.peak.name);
    EXPECT_LE(
        peak.library_bytes,
        LibraryBytesBound(
            {.precision = query.bf16 ? Precision::kBf16 : Precision::kFp32,
             .threads = query.threads,
             .result_elements = LargestProductElements(query)}))
        << Describe(query);
    EXPECT_EQ(measured.LiveBytes(), memory.input_bytes) << Describe(query);
  }
  at::set_num_threads(1);
}

AttentionQuery Published(std::optional<SdpaBackend> backend) {
  return {.backend = backend, .batch = 8, .seq = 16384, .d_head = 64};
}

TEST(AttentionMemoryTest, NaiveNeeds24BytesPerScoreAt16384AndFlashAlmostNone) {
  constexpr int64_t kGib = int64_t{1} << 30;
  const AttentionMemory naive = EstimateAttention(Published({}));
  EXPECT_GT(naive.peak.bytes, 48 * kGib);
  EXPECT_LT(naive.peak.bytes, 49 * kGib);
  EXPECT_EQ(naive.largest_term,
            "scores, weights and their gradients, 24 B T^2 bytes: 48.00 GiB");
  const AttentionMemory flash =
      EstimateAttention(Published(SdpaBackend::kFlash));
  EXPECT_LT(flash.peak.bytes, kGib);
  EXPECT_THAT(flash.largest_term, HasSubstr("B T d bytes"));
}

TEST(AttentionMemoryTest, FusedKernelsOfAGpuKeepOutputAndLogSumExp) {
  for (const SdpaBackend backend :
       {SdpaBackend::kFlash, SdpaBackend::kEfficient, SdpaBackend::kCudnn}) {
    const AttentionQuery query = {.backend = backend,
                                  .batch = 8,
                                  .seq = 1024,
                                  .d_head = 64,
                                  .bf16 = true,
                                  .on_cpu = false};
    const int64_t n = 8 * 1024 * 64, r = 8 * 1024;
    EXPECT_EQ(AttentionSavedBytes(query), 2 * n + 4 * r);
    // Inputs, output and gradients, and q's gradient in fp32.
    EXPECT_EQ(EstimateAttention(query).peak.bytes, 16 * n + 4 * n + 8 * r);
  }
}

struct GpuPeak {
  std::optional<SdpaBackend> backend;
  bool bf16;
  int64_t seq, d_head;
  int64_t bytes;
};

// Of LibTorch 2.11's caching allocator with 132 multiprocessors and batch 8.
TEST(AttentionMemoryTest, OnAGpuIsWhatLibTorchAllocatesThere) {
  constexpr auto kMath = SdpaBackend::kMath, kFlash = SdpaBackend::kFlash,
                 kEfficient = SdpaBackend::kEfficient;
  const GpuPeak peaks[] = {{std::nullopt, false, 1024, 64, 215'056'384},
                           {std::nullopt, true, 1024, 64, 208'764'928},
                           {kMath, false, 1024, 64, 150'994'944},
                           {kMath, true, 1024, 128, 157'286'400},
                           {kFlash, true, 256, 128, 5'260'288},
                           {kFlash, true, 1024, 16, 3'507'200},  // 2 splits
                           {kFlash, true, 1024, 64, 10'552'320},
                           {kFlash, true, 4096, 128, 84'149'248},
                           {kEfficient, false, 1024, 16, 6'359'040},
                           {kEfficient, false, 1024, 128, 37'816'320},
                           {kEfficient, false, 4096, 64, 75'767'808},
                           {kEfficient, true, 1024, 16, 4'261'888},
                           {kEfficient, true, 4096, 128, 84'152'320}};
  for (const GpuPeak& peak : peaks) {
    const AttentionQuery query = {.backend = peak.backend,
                                  .batch = 8,
                                  .seq = peak.seq,
                                  .d_head = peak.d_head,
                                  .bf16 = peak.bf16,
                                  .on_cpu = false,
                                  .multiprocessors = 132};
    const auto measured = static_cast<double>(peak.bytes);
    EXPECT_NEAR(static_cast<double>(EstimateAttention(query).peak.bytes),
                measured, 0.01 * measured)
        << Describe(query);
  }
}

TEST(AttentionMemoryTest, FlashAttentionOfFewRowsSplitsItsKeys) {
  AttentionQuery query = {.backend = SdpaBackend::kFlash,
                          .batch = 1,
                          .seq = 4096,
                          .d_head = 64,
                          .bf16 = true,
                          .on_cpu = false};
  const int64_t n = 4096 * 64, r = 4096;
  const auto forward = [&](int multiprocessors) {
    query.multiprocessors = multiprocessors;
    return EstimateAttention(query).forward_peak.bytes;
  };
  const int64_t whole = 8 * n + 2 * n + 4 * r;
  EXPECT_EQ(forward(0), whole);
  EXPECT_EQ(forward(40), whole);  // 64 tiles occupy 80 places
  // In fp32, with a sum per row: 4 parts of 16 tiles, as LibTorch does.
  EXPECT_EQ(forward(132), whole + 4 * 4 * (n + r));
}

TEST(AttentionMemoryTest, WhatCannotBeCountedIsTheLargestThereIs) {
  AttentionQuery query = Published({});
  query.seq = int64_t{1} << 33;
  const AttentionMemory memory = EstimateAttention(query);
  EXPECT_EQ(memory.peak.bytes, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(memory.forward_peak.bytes, memory.peak.bytes);
  EXPECT_GT(AttentionBytes(query, Phase::kForward), 0);
}

TEST(AttentionTrafficTest, CountsFullSquaresAndWhatHasToMove) {
  const AttentionQuery naive = Published({});
  const double b = 8, t = 16384, d = 64, n = b * t * d, s = b * t * t;
  EXPECT_EQ(AttentionFlops(naive, Phase::kForward), 4 * s * d);
  EXPECT_EQ(AttentionFlops(naive, Phase::kBackward), 8 * s * d);
  EXPECT_EQ(AttentionFlops(naive, Phase::kOptimizer), 0);
  const double saved = 8 * s + t * t + 12 * b * t;
  EXPECT_EQ(AttentionBytes(naive, Phase::kForward), 16 * n + saved);
  EXPECT_EQ(AttentionBytes(naive, Phase::kBackward), 28 * n + saved);
  const AttentionQuery flash = Published(SdpaBackend::kFlash);
  EXPECT_EQ(AttentionBytes(flash, Phase::kForward), 16 * n + 4 * b * t);
  EXPECT_EQ(AttentionBytes(flash, Phase::kBackward), 32 * n + 4 * b * t);
  EXPECT_EQ(AttentionBytes(flash, Phase::kLoss), 0);
}

}  // namespace
}  // namespace trainbench
