// SPDX-License-Identifier: MIT
// The attention kernels that only a GPU has: which runs, whether it is right,
// and what it keeps.

#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/attention_scaling/attention_fwd_bwd.h"
#include "benchmarks/attention_scaling/attention_verification.h"
#include "fixtures/device/cuda_support.h"
#include "fixtures/device/device.h"
#include "fixtures/memory/memory_probe.h"
#include "fixtures/profiling/operator_names.h"
#include "model/accounting/attention.h"

namespace trainbench {
namespace {

constexpr char kNoGpu[] = "no CUDA device";

// Large enough for the allocator's rounding to be small.
constexpr int64_t kBatch = 8, kSeq = 2048, kHead = 64;

struct Variant {
  std::optional<SdpaBackend> backend;
  bool bf16;
};

std::vector<Variant> Variants() {
  std::vector<Variant> variants = {{std::nullopt, false}, {std::nullopt, true}};
  for (const SdpaBackend backend : kSdpaBackends) {
    for (const bool bf16 : {false, true}) {
      const auto type = bf16 ? c10::kBFloat16 : c10::kFloat;
      if (SdpaUnavailable(backend, c10::kCUDA, type).empty()) {
        variants.push_back({backend, bf16});
      }
    }
  }
  return variants;
}

std::string Describe(const Variant& variant) {
  return std::string(variant.backend ? SdpaBackendName(*variant.backend)
                                     : "naive") +
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
    const at::Tensor out = AttentionForward(variant.backend, in);
    const absl::Status status = VerifyAttention(
        in, out, AttentionBackward(in, out), variant.bf16 ? 2e-2 : 1e-4);
    EXPECT_TRUE(status.ok()) << Describe(variant) << ": " << status;
  }
}

TEST(CudaAttentionTest, TheOperatorOfTheBackendRuns) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  for (const Variant& variant : Variants()) {
    if (!variant.backend) continue;
    const AttentionInputs in = Inputs(variant);
    const auto operators =
        OperatorNames([&] { AttentionForward(variant.backend, in); });
    const absl::string_view op = SdpaOpName(*variant.backend, c10::kCUDA);
    EXPECT_TRUE(operators.contains(std::string(op))) << Describe(variant);
  }
}

// cuDNN chooses its own workspace, which no formula here knows.
double ToleranceOf(const Variant& variant) {
  return variant.backend == SdpaBackend::kCudnn ? 0.1 : 0.02;
}

TEST(CudaAttentionTest, MemoryIsWithinTwoPercentOfTheAllocators) {
  if (CudaDeviceCount() == 0) GTEST_SKIP() << kNoGpu;
  const auto probe = MakeMemoryProbe(c10::Device(c10::kCUDA, 0));
  for (const Variant& variant : Variants()) {
    const AttentionInputs in = Inputs(variant);
    const auto round = [&] {
      AttentionBackward(in, AttentionForward(variant.backend, in));
    };
    probe->Observe(round);  // cuBLAS takes its workspace now
    const AttentionMemory memory = EstimateAttention(
        {.backend = variant.backend,
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
    probe->Observe([&] { out = AttentionForward(variant.backend, in); });
    expect_near(memory.saved_bytes, probe->LiveBytes() - before, "saved");
  }
}

}  // namespace
}  // namespace trainbench
