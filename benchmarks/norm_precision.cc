// SPDX-License-Identifier: MIT
// Question: Which operation of a norm must not run in 16 bits, and is bf16 free
//   of the problem?
// Expect: The square. fp16 ends at 65504 < 256^2, so one input beyond 256
//   overflows its row: the mean square is infinite, its inverse root 0, and the
//   row silently zero, a relative error of 1. Of normal inputs 1 in 96 is
//   beyond 2.56 sigma, so at magnitude 100 each row of 1024 has about ten of
//   them and all rows are lost; at magnitude 30 the limit is 8.5 sigma and no
//   row is lost. bf16 never overflows here, but rounds 8 times as coarsely as
//   fp16. With fp32 intermediates ("wide") only the result is rounded, by at
//   most half a unit in the last place: 0.4 x 2^-11 = 2e-4 rms in fp16, 1.6e-3
//   in bf16, at every magnitude. With 16-bit intermediates ("low") inverse root
//   and mean square are rounded too, which moves whole rows: up to twice the
//   error.

#include <array>
#include <vector>

#include "benchmarks/norm_precision/norm_arithmetic.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "model/nn/dtype.h"

namespace trainbench {
namespace {

constexpr int64_t kRows = 64;
constexpr int64_t kDim = 1024;

const char* InternalsName(bool is_wide) { return is_wide ? "wide" : "low"; }

class NormPrecision final : public Workload {
 public:
  struct Params {
    NormKind kind;
    c10::ScalarType dtype;  // of input and output
    bool is_wide;           // fp32 intermediate results, not of this dtype
    int64_t magnitude;      // standard deviation of the input

    c10::ScalarType compute_dtype() const {
      return is_wide ? c10::kFloat : dtype;
    }
  };

  static SweepPlan<Params> Sweep();

  static CaseName NameOf(const Params& p) {
    return CaseName("norm_precision")
        .Word("norm", NormKindName(p.kind))
        .Word("dtype", DtypeName(p.dtype))
        .Word("internals", InternalsName(p.is_wide))
        .Value("magnitude", p.magnitude);
  }

  static std::vector<Expectation> Expectations(const Device&) {
    const auto of = [](const std::string& counter, const std::string& dtype,
                       const std::string& internals) {
      return Quantity{.counter = counter,
                      .rows = {{"dtype", dtype}, {"internals", internals}}};
    };
    Quantity at_100 = of("overflowed", "fp16", "low");
    at_100.rows["magnitude"] = "100";
    Quantity rounded = of("relative_error", "bf16", "low");
    rounded.versus = {{"internals", "wide"}};
    return {
        {"fp16 overflows at magnitude 100", at_100, About(1, 0)},
        {"bf16 never overflows", of("overflowed", "bf16", "low"), AtMost(0)},
        {"fp16 with fp32 internals rounds by 2e-4",
         of("relative_error", "fp16", "wide"), About(2e-4, 0.15)},
        {"bf16 with fp32 internals rounds by 1.6e-3",
         of("relative_error", "bf16", "wide"), About(1.6e-3, 0.15)},
        {"bf16 internals at most double the error", rounded, AtMost(2)}};
  }

  // Reads the input and writes the output once.
  static Cost CostOf(const Params& p, const Device&) {
    return {.bytes = 2.0 * kRows * kDim * BitsOf(p.dtype) / 8};
  }

  static MeasurementOptions OptionsOf(const Params&) {
    return {.hold = true, .cold_cache = true};
  }

  NormPrecision(const Params& p, const Device& device)
      : p_(p),
        x_(NormalInput(kRows, kDim, static_cast<double>(p.magnitude), p.dtype,
                       TorchDevice(device))) {}

  absl::Status Check() override {
    return CheckNorm(p_.kind, x_, p_.compute_dtype(), Norm());
  }

  void Run(PhaseObserver&) override { Norm(); }

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples&) override {
    const NormResult result = Norm();
    const double overflowed = OverflowedShare(result);
    // An infinite or NaN error is left out, like any such counter.
    ExtraMetrics extra;
    extra.counters = {{"relative_error", NormError(p_.kind, x_, result.y)},
                      {"overflowed", overflowed > 0 ? 1 : 0},
                      {"overflowed_rows_share", overflowed}};
    return extra;
  }

 private:
  NormResult Norm() const { return Normalize(p_.kind, x_, p_.compute_dtype()); }

  Params p_;
  at::Tensor x_;
};

SweepPlan<NormPrecision::Params> NormPrecision::Sweep() {
  return {.axes = {{"norm", &Params::kind,
                    std::vector{NormKind::kRmsNorm, NormKind::kLayerNorm},
                    NormKindName},
                   {"dtype", &Params::dtype,
                    std::vector{c10::kHalf, c10::kBFloat16, c10::kFloat},
                    DtypeName},
                   {"internals", &Params::is_wide, std::array{false, true},
                    InternalsName},
                   {"magnitude", &Params::magnitude}},
          .grids = {.smoke = {"norm=rms_norm,layer_norm dtype=fp16 "
                              "internals=low,wide magnitude=100"},
                    .quick = {"norm=rms_norm dtype=fp16,bf16 "
                              "internals=low,wide magnitude=100"},
                    .full = {"norm=rms_norm dtype=fp16,bf16,fp32 "
                             "internals=low,wide magnitude=1,100"},
                    .paper = {"norm=rms_norm,layer_norm dtype=fp16,bf16,fp32 "
                              "internals=low,wide "
                              "magnitude=1,10,30,60,100,300,1000,10000"}},
          // fp32 has no lower intermediates.
          .complete = [](Params& p, const RunOptions&, const Device&) {
            return p.is_wide || p.dtype != c10::kFloat;
          }};
}

const bool kNormPrecisionRegistered = Register<NormPrecision>();

}  // namespace
}  // namespace trainbench
