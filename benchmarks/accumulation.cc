// SPDX-License-Identifier: MIT
// Question: How much does a sum of many small terms lose in each precision, and
//   does it help to keep only the sum, or only the terms, in fp32?
// Expect: 1000 x 0.01 is 10. fp32 rounds each sum below 16 by at most 4.8e-7,
//   so its error is below 5e-4. fp16 numbers between 8 and 16 are 2^-7 apart,
//   so each 0.01 adds 0.0078: the sum passes 8 after 750 terms (in steps of
//   0.0117 from 4 to 8, and of 0.0098 from 2 to 4) and ends at 8 + 250 x 0.0078
//   = 9.95. An fp32 sum of fp16 terms has only the error of the terms: 0.01 in
//   fp16 is 0.01000214, and a thousand of them are 10.0021. Casting each term
//   first gives the same sum and costs a second operation per term. bf16 stops
//   at 4, where half of its spacing is 0.0156.

#include "model/ops/accumulation.h"

#include <cmath>
#include <functional>
#include <vector>

#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"

namespace trainbench {
namespace {

class AccumulationOrder final : public Workload {
 public:
  using Params = Accumulation;

  static SweepPlan<Params> Sweep() {
    return {
        .axes = {{"dtypes", std::identity(), kAccumulations, &Params::name}},
        .grids = {.smoke = {"dtypes=fp32_plus_fp32,fp16_plus_fp16,"
                            "fp32_plus_fp16,fp32_plus_fp32_of_fp16,"
                            "bf16_plus_bf16"}}};
  }

  static CaseName NameOf(const Params& p) {
    return CaseName("accumulation").Word("dtypes", p.name);
  }

  static std::vector<Expectation> Expectations(const Device&) {
    const auto of = [](const std::string& counter, const std::string& dtypes) {
      return Quantity{.counter = counter, .rows = {{"dtypes", dtypes}}};
    };
    return {
        {"fp32 is off by less than 5e-4",
         of("absolute_error", "fp32_plus_fp32"), AtMost(5e-4)},
        {"fp16 ends at 9.95", of("sum", "fp16_plus_fp16"), About(9.95, 1e-3)},
        {"an fp32 sum of fp16 terms has the error of the terms",
         of("sum", "fp32_plus_fp16"), About(10.0021, 1e-5)},
        {"casting each term first gives the same sum",
         of("sum", "fp32_plus_fp32_of_fp16"), About(10.0021, 1e-5)},
        {"bf16 stops at 4", of("sum", "bf16_plus_bf16"), About(4, 0)}};
  }

  // Scalars: no matrix product, and no traffic worth a rate.
  static Cost CostOf(const Params&, const Device&) { return {}; }

  AccumulationOrder(const Params& p, const Device& device)
      : p_(p), term_(MakeTerm(p, TorchDevice(device))) {}

  absl::Status Check() override { return VerifySum(p_, Sum()); }

  void Run(PhaseObserver&) override { Accumulate(p_, term_); }

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
  double Sum() const { return Accumulate(p_, term_).item<double>(); }

  Params p_;
  at::Tensor term_;
};

const bool kRegistered = Register<AccumulationOrder>();

}  // namespace
}  // namespace trainbench
