// SPDX-License-Identifier: MIT
// Question: How do time and memory of attention grow with the sequence length,
//   for separate operations and for fused kernels?
// Expect: All variants multiply 4 B T^2 d FLOP forward and twice that backward,
//   so their times tend to T^2. Memory differs. In fp32 naive saves exp(scores)
//   and the weights, 8 B T^2 bytes, and peaks at 24 B T^2 in the backward pass
//   of the softmax; math saves 4 and peaks at 12 B T^2. The fused kernels save
//   the output and log-sum-exp, 4 B T (d + 1) bytes: exponent 1. With B 8 and d
//   64 that is 64 v 2 MiB saved at T 1024, and at T 16384 a peak of 48 GiB,
//   skipped where it does not fit, v 0.25 GiB. Naive passes over the scores 14
//   times forward, 56 bytes for 4 d = 256 FLOP. At 4.6 FLOP per byte it is
//   bound by memory (an H100 balances at 67 / 3.35 = 20 in fp32): 36 ms for the
//   2^31 scores of T 16384. Flash moves 16 B T d bytes, T / 4 FLOP per byte, so
//   it is bound by arithmetic, and it skips the masked half. Backward / forward
//   is 32 to 14 passes, 2.3, for naive, and 5 to 2 products, 2.5, for flash,
//   which computes Q K^T again.

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/attention_scaling/attention_fwd_bwd.h"
#include "benchmarks/attention_scaling/attention_verification.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/memory/memory_probe.h"
#include "fixtures/profiling/operator_names.h"
#include "model/accounting/attention.h"
#include "model/accounting/library.h"
#include "model/nn/dtype.h"
#include "model/spec/precision.h"
#include "model/training/precision_scope.h"

namespace trainbench {
namespace {

using Variant = std::optional<SdpaBackend>;  // empty: naive

std::string VariantName(Variant variant) {
  if (!variant) return "naive";
  return "sdpa_" + std::string(SdpaBackendName(*variant));
}

class AttentionScaling final : public Workload {
 public:
  struct Params {
    Variant variant;
    Precision precision;  // fp32 or bf16
    Phase phase;          // forward or backward, the timed one
    int64_t batch;
    int64_t seq;
    int64_t d_head;
  };

  static SweepPlan<Params> Sweep();

  static std::vector<Expectation> Expectations(const Device& device);

  static CaseName NameOf(const Params& p) {
    return CaseName("attention_scaling")
        .Word("variant", VariantName(p.variant))
        .Word("precision", PrecisionName(p.precision))
        .Word("phase", PhaseName(p.phase))
        .Value("batch", p.batch)
        .Value("seq", p.seq)
        .Value("d_head", p.d_head);
  }

  // FLOPs and bytes of the timed phase; memory of both, since a row runs both.
  static Cost CostOf(const Params& p, const Device& device) {
    const AttentionQuery query = QueryOf(p, device);
    const AttentionMemory memory = EstimateAttention(query);
    const double flops = AttentionFlops(query, p.phase);
    return {
        .flops = flops,
        .least_flops = flops / 2,  // without the masked half
        .precision = IsThreeTf32(p, device) ? Precision::kTf32 : p.precision,
        .bytes = AttentionBytes(query, p.phase),
        .predicted_peak_bytes = memory.peak.bytes,
        .library_bytes = LibraryBytesBound(
            {.on_cpu = query.on_cpu,
             .precision = p.precision,
             .threads = query.threads,
             .result_elements = LargestProductElements(query)}),
        .largest_term = memory.largest_term};
  }

  static std::string Unavailable(const Params& p, const Device& device) {
    if (!p.variant) return "";
    return SdpaUnavailable(*p.variant, TorchDevice(device).type(),
                           WeightType(p.precision));
  }

  static MeasurementOptions OptionsOf(const Params& p) {
    MeasurementOptions options;
    options.timed_phase = p.phase;
    options.hold = true;
    return options;
  }

  AttentionScaling(const Params& p, const Device& device)
      : p_(p),
        device_(device),
        matmul_(p.precision),
        inputs_(RandomAttentionInputs(p.batch, p.seq, p.d_head,
                                      at::TensorOptions()
                                          .device(TorchDevice(device))
                                          .dtype(WeightType(p.precision)))) {}

  absl::Status Check() override {
    const at::Tensor output = AttentionForward(p_.variant, inputs_);
    return VerifyAttention(inputs_, output, AttentionBackward(inputs_, output),
                           p_.precision == Precision::kBf16 ? 2e-2 : 1e-4);
  }

  void Run(PhaseObserver& phases) override {
    phases.Enter(Phase::kForward);
    const at::Tensor output = AttentionForward(p_.variant, inputs_);
    phases.Enter(Phase::kBackward);
    AttentionBackward(inputs_, output);
  }

  // The operator that ran, and the bytes that it saves for the backward pass.
  // The operator proves which backend LibTorch took. Which kernel a GPU ran for
  // it only a profile would prove, in one more process for each variant.
  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples&) override {
    const std::string op = ExpectedOp();
    const auto forward = [this] { AttentionForward(p_.variant, inputs_); };
    if (!OperatorNames(forward).contains(op)) {
      return absl::FailedPreconditionError(VariantName(p_.variant) +
                                           " does not run " + op);
    }
    // Intensity of the compulsory traffic, not of what the variant moves.
    const Cost cost = CostOf(p_, device_);
    ExtraMetrics extra;
    extra.label = {{"backend_op", op}};
    if (IsThreeTf32(p_, device_)) extra.label.emplace_back("arith", "3xtf32");
    extra.counters = {
        {"saved_bytes", static_cast<double>(SavedBytes())},
        {"predicted_saved_bytes",
         static_cast<double>(AttentionSavedBytes(QueryOf(p_, device_)))},
        {"arithmetic_intensity", cost.flops / cost.bytes}};
    return extra;
  }

 private:
  static AttentionQuery QueryOf(const Params& p, const Device& device) {
    return {.backend = p.variant,
            .batch = p.batch,
            .seq = p.seq,
            .d_head = p.d_head,
            .bf16 = p.precision == Precision::kBf16,
            .on_cpu = !device.is_cuda(),
            .threads = device.Threads(),
            .multiprocessors = device.is_cuda() ? device.cores : 0};
  }

  // The naive variant runs batched products on every device.
  std::string ExpectedOp() const {
    if (!p_.variant) return "aten::bmm";
    return std::string(SdpaOpName(*p_.variant, TorchDevice(device_).type()));
  }

  // LibTorch's efficient attention multiplies fp32 on the tensor cores of a
  // GPU: each product as three of TF32, nearly as exact and not as slow as
  // fp32.
  static bool IsThreeTf32(const Params& p, const Device& device) {
    return p.variant == SdpaBackend::kEfficient &&
           p.precision == Precision::kFp32 && device.is_cuda();
  }

  // Live bytes that a forward pass adds.
  int64_t SavedBytes() const {
    const auto probe = MakeMemoryProbe(TorchDevice(device_));
    at::Tensor output;
    const int64_t before = probe->LiveBytes();
    probe->Observe([&] { output = AttentionForward(p_.variant, inputs_); });
    return probe->LiveBytes() - before;
  }

  Params p_;
  const Device& device_;
  MatmulScope matmul_;
  AttentionInputs inputs_;
};

std::vector<Expectation> AttentionScaling::Expectations(const Device&) {
  const auto growth = [](const std::string& counter, const std::string& variant,
                         const std::string& phase) {
    return Quantity{.counter = counter,
                    .rows = {{"variant", variant}, {"phase", phase}},
                    .along = "seq"};
  };
  const auto backward = [](const std::string& variant) {
    return Quantity{.counter = "backward_us",
                    .per = "forward_us",
                    .rows = {{"variant", variant}, {"phase", "backward"}}};
  };
  return {{"naive attention saves T^2 bytes",
           growth("saved_bytes", "naive", "forward"), About(2, 0.05)},
          {"fused attention saves T bytes",
           growth("saved_bytes", "sdpa_flash", "forward"), About(1, 0.02)},
          {"naive attention's time grows as T^2",
           growth("p50_us", "naive", "forward"), About(2, 0.1)},
          {"fused attention's time grows as T^2",
           growth("p50_us", "sdpa_flash", "forward"), About(2, 0.1)},
          {"naive passes over the scores 2.3 times as often backward",
           backward("naive"), About(2.3, 0.25)},
          {"flash multiplies 2.5 times as much backward",
           backward("sdpa_flash"), About(2.5, 0.25)}};
}

SweepPlan<AttentionScaling::Params> AttentionScaling::Sweep() {
  const std::vector<Variant> variants = {
      std::nullopt, SdpaBackend::kMath, SdpaBackend::kFlash,
      SdpaBackend::kEfficient, SdpaBackend::kCudnn};
  const std::string all =
      "variant=naive,sdpa_math,sdpa_flash,sdpa_efficient,sdpa_cudnn "
      "phase=forward,backward batch=8 ";
  const std::string some = "phase=forward,backward batch=8 ";
  return {
      .axes = {{"variant", &Params::variant, variants, VariantName},
               {"precision", &Params::precision,
                std::vector{Precision::kFp32, Precision::kBf16}, PrecisionName},
               {"phase", &Params::phase,
                std::vector{Phase::kForward, Phase::kBackward}, PhaseName},
               {"batch", &Params::batch},
               {"seq", &Params::seq},
               {"d_head", &Params::d_head, {1, 1024}}},
      .grids = {
          .smoke = {some + "variant=naive,sdpa_flash precision=fp32 seq=128 "
                           "d_head=32"},
          // A GPU's flash attention is for 16-bit types.
          .smoke_gpu = {some + "variant=naive,sdpa_efficient precision=fp32 "
                               "seq=128 d_head=32"},
          .quick = {some + "variant=naive,sdpa_math,sdpa_flash precision=fp32 "
                           "seq=256,512,1024 d_head=64"},
          .quick_gpu = {all + "precision=bf16 seq=1024,4096,16384 d_head=64",
                        some + "variant=naive precision=fp32 "
                               "seq=1024,4096,16384 d_head=64"},
          .paper = {all + "precision=fp32,bf16 seq=256,1024,4096,8192,16384 "
                          "d_head=16,32,64,128"}}};
}

const bool kRegistered = Register<AttentionScaling>();

}  // namespace
}  // namespace trainbench
