// SPDX-License-Identifier: MIT
// The attention kernels that only a GPU has: which one runs, whether it is
// right, and its memory.

#include <torch/types.h>

#include <functional>
#include <string>
#include <vector>

#include "fixtures/memory/allocation_recorder.h"
#include "fixtures/memory/memory_probe.h"
#include "model/dry_run/dry_run.h"
#include "model/ops/attention_fwd_bwd.h"
#include "model/ops/attention_verification.h"
#include "model/verification/products.h"
#include "tests/support/cuda_test.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

// Large enough that the allocator's rounding is negligible.
constexpr int64_t kBatch = 8, kSeq = 2048, kHead = 64;

struct Variant {
  AttentionKind kind;
  bool bf16;
};

std::vector<Variant> Variants() {
  std::vector<Variant> variants;
  for (const AttentionKind kind : kAttentionKinds) {
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

class CudaAttentionTest : public CudaTest {};

TEST_F(CudaAttentionTest, EachVariantGivesTheFloat64Result) {
  for (const Variant& variant : Variants()) {
    const AttentionInputs in = Inputs(variant);
    const at::Tensor out = AttentionForward(variant.kind, in);
    EXPECT_EQ(VerifyAttention(in, out, AttentionBackward(in, out),
                              variant.bf16 ? 2e-2 : 1e-4),
              absl::OkStatus())
        << Describe(variant);
  }
}

TEST_F(CudaAttentionTest, TheOperatorOfTheVariantRuns) {
  for (const Variant& variant : Variants()) {
    const AttentionInputs in = Inputs(variant);
    const std::string op(VariantOf(variant.kind).op);
    EXPECT_THAT(
        ProductsOf([&] { AttentionForward(variant.kind, in); }).operators,
        Contains(StartsWith(op)))
        << Describe(variant);
  }
}

TEST_F(CudaAttentionTest, ADryRunIsWithinTwoPercentOfTheAllocators) {
  const c10::Device gpu(c10::kCUDA, 0);
  const auto probe = MakeMemoryProbe(gpu);
  for (const Variant& variant : Variants()) {
    const auto peak_of =
        [&](const std::function<int64_t(AttentionInputs&)>& f) {
          AttentionInputs in = Inputs(variant);
          return static_cast<double>(f(in));
        };
    const auto round = [&](const AttentionInputs& in) {
      AttentionBackward(in, AttentionForward(variant.kind, in));
    };
    const double measured = peak_of([&](AttentionInputs& in) {
      probe->Observe([&] { round(in); });  // allocates cuBLAS's workspace
      const int64_t before = probe->LiveBytes();
      return probe->MeasurePeak([&] { round(in); }).allocated - before;
    });
    const DryRun dry;
    const double predicted = peak_of([&](AttentionInputs& in) {
      return AllocationRecorder(gpu)
          .Record([&](PhaseObserver&) { round(in); })
          .peak_bytes;
    });
    EXPECT_LE(predicted, 1.02 * measured) << Describe(variant);
    // cuDNN's own workspace may be larger.
    if (variant.kind == AttentionKind::kSdpaCudnn) continue;
    EXPECT_GE(predicted, 0.98 * measured) << Describe(variant);
  }
}

}  // namespace
}  // namespace trainbench
