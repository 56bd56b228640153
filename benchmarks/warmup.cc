// SPDX-License-Identifier: MIT
// Question: How many warm-up calls does a measurement need? What does the first
//   call of a process cost, and how far does it shift the mean of ten timed
//   steps?
// Expect: The first call pays once for what later calls find ready: memory from
//   the system, threads, and on a GPU kernel loading and library handles. If it
//   takes 1 + c times a steady step, the mean of ten steps with calls:0 is 1 +
//   c / 10 times the steady state (steady_ratio), and its standard deviation is
//   c / sqrt(10) of a step. With calls:1 the ratio is near 1: one call is
//   enough for anything that happens only once. A difference between calls:1
//   and calls:5 comes from clocks and caches.

#include <cstdint>
#include <string>
#include <vector>

#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/model_step.h"
#include "fixtures/timing/statistics.h"
#include "model/verification/verification.h"

namespace trainbench {
namespace {

using enum Precision;
using enum StepMode;

constexpr int kTimedSteps = 10;

class Warmup final : public ModelStep {
 public:
  struct Params : StepParams {
    int calls;  // untimed, before the ten timed ones
  };
  using ModelStep::ModelStep;

  static CaseName NameOf(const Params& p) {
    return StepName("warmup", p).Value("calls", p.calls);
  }

  // Cold: no step runs before the first call, not even a check.
  static MeasurementOptions OptionsOf(const Params& p) {
    return {.count = SamplingPlan::Count{p.calls, kTimedSteps},
            .fresh_process = true,
            .cold = true};
  }

  static std::vector<Expectation> Expectations(const Device&) {
    return {{"after one call the mean of ten is that of the steady state",
             {.counter = "steady_ratio", .rows = {{"calls", "1"}}},
             About(1, 0.05)},
            {"the first call takes longer than a steady one",
             {.counter = "first_ratio", .rows = {{"calls", "0"}}},
             AtLeast(1)}};
  }

  static std::vector<Params> Sweep(const RunOptions& options,
                                   const Device& device) {
    std::vector<Params> cases;
    for (const StepParams& step : StepGrid(options, AxesOf(options, device))) {
      for (const int calls : CallsOf(options.suite, device)) {
        cases.push_back({step, calls});
      }
    }
    return cases;
  }

  // Runs after the timing. Only the first step of an optimizer can be verified,
  // and this one has stepped: model_size and optimizer verify theirs.
  absl::Status Check() override {
    const StepMode mode =
        step().mode == kTrainStep ? kForwardBackward : step().mode;
    return VerifyStep(mode, model(), nullptr, step().precision,
                      {step().batch, step().seq});
  }

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples& sampling) override {
    std::vector<double> all, late;
    for (const Sample& sample : sampling.samples) {
      all.push_back(sample.total_us);
    }
    // By its second half even a cold run is warm.
    late.assign(all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                all.end());
    const double steady = Median(late);
    return ExtraMetrics{
        {{"steady_us", steady},
         {"steady_ratio", Mean(all) / steady},
         {"first_ratio", sampling.first_call.total_us / steady}},
        {}};
  }

 private:
  // Each row starts a process, which takes seconds with a GPU.
  static std::vector<int> CallsOf(Suite suite, const Device& device) {
    if (suite == Suite::kSmoke) return {0, 1};
    if (suite == Suite::kQuick && device.is_cuda()) return {0, 1, 5};
    return {0, 1, 2, 5};
  }

  static StepAxes AxesOf(const RunOptions& options, const Device& device) {
    if (options.suite == Suite::kSmoke) {
      return {.models = {"tiny"},
              .precisions = {kFp32},
              .modes = {kTrainStep},
              .seqs = {32},
              .batch = 2};
    }
    if (options.suite == Suite::kPaper) {
      return {.models = device.is_cuda()
                            ? std::vector<std::string>{"small", "2.7B"}
                            : PublishedModels(),
              .precisions = {kFp32, kBf16Autocast},
              .modes = {kForward, kForwardBackward, kTrainStep},
              .seqs = {512}};
    }
    if (device.is_cuda()) {
      return {.models = {"small"},
              .precisions = {kFp32},
              .modes = {kTrainStep},
              .seqs = {512}};
    }
    // The shorter the step, the larger the share of the cold start.
    return {.models = {"tiny"},
            .precisions = {kFp32},
            .modes = {kTrainStep},
            .seqs = {32},
            .batch = 1};
  }
};

const bool kRegistered = Register<Warmup>();

}  // namespace
}  // namespace trainbench
