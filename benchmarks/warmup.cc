// SPDX-License-Identifier: MIT
// Question: How many warm-up calls does a measurement need? What does the first
//   call of a process cost, and how far does it shift the mean of ten timed
//   steps?
// Expect: One warm-up call is enough for anything that happens only once: with
//   calls:1 the mean of ten steps over a steady one, steady_ratio, is near 1.
//   The first call pays for what later calls find ready: memory from the
//   system, and on a GPU kernel loading and library handles. If it takes 1 + c
//   times a steady step, the ratio with calls:0 is 1 + c / 10, and the standard
//   deviation of the ten is c / sqrt(10) of a step. A difference between
//   calls:1 and calls:5 comes from clocks and caches.

#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/model_step.h"
#include "fixtures/timing/statistics.h"
#include "fixtures/timing/timer.h"
#include "model/verification/verification.h"

namespace trainbench {
namespace {

using enum StepMode;

constexpr int kTimedSteps = 10;

class Warmup : public ModelStep {
 public:
  struct Params : StepParams {
    int calls;  // untimed, before the ten timed ones
  };
  using ModelStep::ModelStep;

  // Cold: no step runs before the first call, not even a check.
  static MeasurementOptions OptionsOf(const Params& p, const Device&) {
    return {.count = SamplingPlan::Count{p.calls, kTimedSteps},
            .fresh_process = true,
            .cold = true};
  }

  void Run(State& state) override {
    for (auto _ : state) Step(state.phases());
  }

  // Runs after the timing. Only an optimizer's first step can be verified, and
  // this one has already stepped: model_size and optimizer verify theirs.
  absl::Status Check() override {
    const StepMode mode =
        step().mode == kTrainStep ? kForwardBackward : step().mode;
    return VerifyStep(mode, model(), nullptr, step().precision,
                      {step().batch, step().seq});
  }

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples& sampling) override {
    const std::vector<double> all =
        ValuesOf(sampling.samples, &Sample::total_us);
    // Even a cold run is warm in its second half.
    const std::vector<double> late(all.begin() + std::ssize(all) / 2,
                                   all.end());
    const double steady = Median(late);
    return ExtraMetrics{
        {{"steady_us", steady},
         {"steady_ratio", Mean(all) / steady},
         {"first_ratio", sampling.first_call.total_us / steady}}};
  }
};

constexpr char kAllWarmups[] =
    "precision=fp32,bf16_autocast mode=forward,forward_backward,train_step "
    "batch=4 seq=512 calls=0,1,2,5 model=";

TRAINBENCH_REGISTER(Warmup, "warmup/model/precision/mode/batch/seq/calls")
    ->Axes(StepAxes<Warmup::Params>())
    ->Axis("calls", &Warmup::Params::calls, WholeNumbers{0, 1000})
    ->Smoke(
        "model=tiny precision=fp32 mode=train_step batch=2 seq=32 calls=0,1")
    // Each row starts a process, which takes seconds with a GPU. The shorter
    // the step, the larger the share of the cold start.
    ->Quick(
        "model=tiny precision=fp32 mode=train_step batch=1 seq=32 calls=0,1,5")
    ->QuickOnGpu(
        "model=small precision=fp32 mode=train_step batch=4 seq=512 "
        "calls=0,1,5")
    ->Full(
        "model=tiny precision=fp32 mode=train_step batch=1 seq=32 "
        "calls=0,1,2,5")
    ->Paper(absl::StrCat(kAllWarmups, kPublishedModels))
    ->PaperOnGpu(absl::StrCat(kAllWarmups, "small,2.7B"))
    ->Expect("after one call the mean of ten is within 5 % of the steady state",
             Counter("steady_ratio").Of("calls=1"), About(1, 0.05))
    ->Expect("the first call takes longer than a steady one",
             Counter("first_ratio").Of("calls=0"), AtLeast(1));

}  // namespace
}  // namespace trainbench
