// SPDX-License-Identifier: MIT
// The attention kernels that only a GPU has: which runs, whether it is right,
// and what it keeps.

#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fixtures/device/cuda_support.h"
#include "fixtures/device/device.h"
#include "fixtures/memory/memory_probe.h"
#include "fixtures/profiling/operator_names.h"
#include "model/accounting/attention.h"
#include "model/ops/attention_fwd_bwd.h"
#include "model/ops/attention_verification.h"

namespace trainbench {
namespace {

constexpr char kNoGpu[] = "no CUDA device";

// Large enough for the allocator's rounding to be small.
constexpr int64_t kBatch = 8, kSeq = 2048, kHead = 64;

struct Variant {
  AttentionKind kind;
  bool bf16;
};

std::vector<Variant> Variants() {
  std::vector<Variant> variants;
  for (const AttentionKind kind : AttentionKinds()) {
    for (const bool bf16 : {false, true}) {
      if (AttentionUnavailable(kind, DeviceKind::kCuda, bf16, kHead).empty()) {
        variants.push_back({kind, bf16});
      }
    }
  }
  return variants;
}

std::string Describe(const Variant& variant) {
  return std::string(AttentionName(variant.kind)) +
         (variant.bf16 ? " bf16" : " fp32");
}

AttentionInputs Inputs(const Variant& variant) {
  at::manual_seed(1);
  return RandomAttentionInputs(
      kBatch, kSeq, kHead,
      at::TensorOptions()
          .device(at::kCUDA, 0)
          .dtype(variant.bf16 ? at::kBFloat16 : at::kFloat));
}

TEST(CudaAttentionTest, EachVariantGivesTheFloat64Result) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  for (const Variant& variant : Variants()) {
    const AttentionInputs in = Inputs(variant);
    const at::Tensor out = AttentionForward(variant.kind, in);
    const absl::Status status = VerifyAttention(
        in, out, AttentionBackward(in, out), variant.bf16 ? 2e-2 : 1e-4);
    EXPECT_TRUE(status.ok()) << Describe(variant) << ": " << status;
  }
}

TEST(CudaAttentionTest, TheOperatorOfTheVariantRuns) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  for (const Variant& variant : Variants()) {
    const AttentionInputs in = Inputs(variant);
    const std::string op(AttentionOpPrefix(variant.kind, DeviceKind::kCuda));
    EXPECT_NE(
        OperatorThatBegins(op, [&] { AttentionForward(variant.kind, in); }), "")
        << Describe(variant);
  }
}

// cuDNN chooses its own workspace, which no formula here knows.
double ToleranceOf(const Variant& variant) {
  return variant.kind == AttentionKind::kSdpaCudnn ? 0.1 : 0.02;
}

TEST(CudaAttentionTest, MemoryIsWithinTwoPercentOfTheAllocators) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  const auto probe = MakeMemoryProbe(c10::Device(c10::kCUDA, 0));
  for (const Variant& variant : Variants()) {
    const AttentionInputs in = Inputs(variant);
    const auto round = [&] {
      AttentionBackward(in, AttentionForward(variant.kind, in));
    };
    probe->Observe(round);  // cuBLAS takes its workspace now
    const AttentionMemory memory = EstimateAttention(
        {.attention = variant.kind,
         .batch = kBatch,
         .seq = kSeq,
         .d_head = kHead,
         .bf16 = variant.bf16,
         .on_cpu = false,
         .multiprocessors = GetCudaProperties(0).multiprocessors});
    // Beside what was there before: the inputs and cuBLAS's workspace.
    const int64_t before = probe->LiveBytes();
    const auto expect_near = [&](int64_t predicted, int64_t measured,
                                 const char* what) {
      const auto bytes = static_cast<double>(measured);
      EXPECT_NEAR(static_cast<double>(predicted), bytes,
                  ToleranceOf(variant) * bytes)
          << Describe(variant) << " " << what;
    };
    const int64_t peak = probe->MeasurePeak(round).allocated - before;
    expect_near(memory.peak.bytes, peak + memory.input_bytes,
                memory.peak.name.c_str());
    at::Tensor out;
    probe->Observe([&] { out = AttentionForward(variant.kind, in); });
    expect_near(memory.saved_bytes, probe->LiveBytes() - before, "saved");
  }
}

}  // namespace
}  // namespace trainbench
