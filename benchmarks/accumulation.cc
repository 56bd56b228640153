// SPDX-License-Identifier: MIT
// Question: How large is the error of a sum of many small terms in each
//   precision? Is an fp32 sum enough, or must each term be cast to fp32 first?
// Expect: 1000 x 0.01 is 10. An fp32 sum is off by less than 5e-4: each
//   addition below 16 rounds by at most 4.8e-7. An fp16 sum ends at 9.95:
//   between 8 and 16 fp16 numbers are 2^-7 apart, so each 0.01 adds 0.0078. The
//   sum passes 8 after 750 terms (in steps of 0.0098 from 2 to 4, 0.0117 from 4
//   to 8), and 8 + 250 x 0.0078 = 9.95. An fp32 sum of fp16 terms ends at
//   10.0021, since 0.01 in fp16 is 0.01000214. Casting each term first gives
//   the same sum and costs a second operation per term. bf16 stops at 4, where
//   half its spacing is 0.0156.

#include <torch/types.h>

#include <array>
#include <cmath>
#include <functional>

#include "absl/strings/str_format.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"

namespace trainbench {
namespace {

constexpr double kTerm = 0.01;
constexpr int kTerms = 1000;

struct Accumulation {
  const char* name;
  c10::ScalarType sum;
  c10::ScalarType term;
  // Whether a separate operation casts each term to the sum's dtype, rather
  // than the addition.
  bool cast = false;
};

constexpr std::array<Accumulation, 5> kAccumulations = {{
    {"fp32_plus_fp32", c10::kFloat, c10::kFloat},
    {"fp16_plus_fp16", c10::kHalf, c10::kHalf},
    {"fp32_plus_fp16", c10::kFloat, c10::kHalf},
    {"fp32_plus_fp32_of_fp16", c10::kFloat, c10::kHalf, /*cast=*/true},
    {"bf16_plus_bf16", c10::kBFloat16, c10::kBFloat16},
}};

double Round(double value, c10::ScalarType dtype) {
  return at::scalar_tensor(value, at::kDouble).to(dtype).item<double>();
}

// The reference: the sum, rounded step by step.
double SimulatedSum(const Accumulation& p) {
  const double term = Round(kTerm, p.term);
  double sum = 0;
  for (int i = 0; i < kTerms; ++i) sum = Round(sum + term, p.sum);
  return sum;
}

class AccumulationOrder : public Fixture {
 public:
  using Params = Accumulation;

  // States no cost: scalars have no matrix product and hardly any traffic.
  AccumulationOrder(const Params& p, const Device& device)
      : p_(p),
        term_(at::full({}, kTerm,
                       at::device(TorchDevice(device)).dtype(p.term))) {}

  absl::Status Check() override {
    const double sum = Sum(), expected = SimulatedSum(p_);
    if (sum == expected) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrFormat(
        "the sum is %.9g; rounded step by step it is %.9g", sum, expected));
  }

  void Run(State& state) override {
    for (auto _ : state) Accumulate();
  }

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples&) override {
    const double sum = Sum();
    const double exact = kTerm * kTerms;
    const double error = std::abs(sum - exact);
    ExtraMetrics extra;
    extra.counters = {{"sum", sum},
                      {"absolute_error", error},
                      {"relative_error", error / exact}};
    return extra;
  }

 private:
  at::Tensor Accumulate() const {
    at::Tensor sum = at::zeros({}, term_.options().dtype(p_.sum));
    for (int i = 0; i < kTerms; ++i) {
      sum += p_.cast ? term_.to(p_.sum) : term_;
    }
    return sum;
  }
  double Sum() const { return Accumulate().item<double>(); }

  Params p_;
  at::Tensor term_;
};

TRAINBENCH_REGISTER(AccumulationOrder, "accumulation/dtypes")
    ->Axis("dtypes", std::identity(), kAccumulations, &Accumulation::name)
    ->Smoke()
    ->Expect("fp32 is off by less than 5e-4",
             Counter("absolute_error").Of("dtypes=fp32_plus_fp32"),
             AtMost(5e-4))
    ->Expect("fp16 ends at 9.95", Counter("sum").Of("dtypes=fp16_plus_fp16"),
             About(9.95, 1e-3))
    ->Expect("an fp32 sum of fp16 terms has the error of the terms",
             Counter("sum").Of("dtypes=fp32_plus_fp16"), About(10.0021, 1e-5))
    ->Expect("casting each term first gives the same sum",
             Counter("sum").Of("dtypes=fp32_plus_fp32_of_fp16"),
             About(10.0021, 1e-5))
    ->Expect("bf16 stops at 4", Counter("sum").Of("dtypes=bf16_plus_bf16"),
             About(4, 0));

}  // namespace
}  // namespace trainbench
