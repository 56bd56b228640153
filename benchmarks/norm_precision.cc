// SPDX-License-Identifier: MIT
// Question: Which operation of a norm must not run in 16 bits, and is bf16 free
//   of the problem?
// Expect: The square. fp16 ends at 65504 < 256^2, so one input beyond 256
//   overflows its row: the mean square is infinite, its inverse root 0, and the
//   row silently zero, a relative error of 1. At magnitude 100 all rows are
//   lost: 1 in 96 normal inputs is beyond 2.56 sigma, about ten in each row of
//   1024. At magnitude 30 the limit is 8.5 sigma and no row is lost. bf16 never
//   overflows here, but rounds 8 times as coarsely as fp16. With fp32
//   intermediates ("wide") only the result is rounded, by at most half a unit
//   in the last place: 0.4 x 2^-11 = 2e-4 rms in fp16 and 1.6e-3 in bf16, at
//   every magnitude. With 16-bit intermediates ("low") mean square and inverse
//   root are rounded too, which rescales whole rows: up to twice the error.

#include "benchmarks/norm_precision/norm_arithmetic.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "model/nn/dtype.h"

namespace trainbench {
namespace {

constexpr int64_t kRows = 64;
constexpr int64_t kDim = 1024;

const char* InternalsName(bool is_wide) { return is_wide ? "wide" : "low"; }

class NormPrecision : public Fixture {
 public:
  struct Params {
    NormKind kind;
    c10::ScalarType dtype;  // of input and output
    bool is_wide;           // fp32 intermediate results instead of `dtype`
    int64_t magnitude;      // standard deviation of the input

    c10::ScalarType compute_dtype() const {
      return is_wide ? c10::kFloat : dtype;
    }
  };

  NormPrecision(const Params& p, const Device& device)
      : p_(p),
        x_(NormalInput(kRows, kDim, static_cast<double>(p.magnitude), p.dtype,
                       TorchDevice(device))) {}

  absl::Status Check() override {
    return CheckNorm(p_.kind, x_, p_.compute_dtype(), Norm());
  }

  void Run(State& state) override {
    for (auto _ : state) Norm();
    // Reads the input and writes the output once.
    state.SetBytesProcessed(2.0 * static_cast<double>(x_.nbytes()));
  }

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

TRAINBENCH_REGISTER(NormPrecision,
                    "norm_precision/norm/dtype/internals/magnitude")
    ->Options({.hold = true, .cold_cache = true})
    ->Axis("norm", &NormPrecision::Params::kind,
           {NormKind::kRmsNorm, NormKind::kLayerNorm}, NormKindName)
    ->Axis("dtype", &NormPrecision::Params::dtype,
           {c10::kHalf, c10::kBFloat16, c10::kFloat}, DtypeName)
    ->Axis("internals", &NormPrecision::Params::is_wide, {false, true},
           InternalsName)
    ->Axis("magnitude", &NormPrecision::Params::magnitude)
    ->Smoke("dtype=fp16 magnitude=100")
    ->Quick("norm=rms_norm dtype=fp16,bf16 magnitude=100")
    ->Full("norm=rms_norm magnitude=1,100")
    ->Paper("magnitude=1,10,30,60,100,300,1000,10000")
    // fp32 has no lower intermediates.
    ->Where([](const NormPrecision::Params& p) {
      return p.is_wide || p.dtype != c10::kFloat;
    })
    ->Expect("fp16 overflows at magnitude 100",
             Counter("overflowed").Of("dtype=fp16 internals=low magnitude=100"),
             About(1, 0))
    ->Expect("bf16 never overflows",
             Counter("overflowed").Of("dtype=bf16 internals=low"), AtMost(0))
    ->Expect("fp16 with fp32 internals rounds by 2e-4",
             Counter("relative_error").Of("dtype=fp16 internals=wide"),
             About(2e-4, 0.15))
    ->Expect("bf16 with fp32 internals rounds by 1.6e-3",
             Counter("relative_error").Of("dtype=bf16 internals=wide"),
             About(1.6e-3, 0.15))
    ->Expect("bf16 internals at most double the error",
             Counter("relative_error")
                 .Of("dtype=bf16 internals=low")
                 .Versus("internals=wide"),
             AtMost(2));

}  // namespace
}  // namespace trainbench
