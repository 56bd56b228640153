// SPDX-License-Identifier: MIT
// Question: What does a compiler gain over separate operators, in a forward
//   pass that AOTInductor compiled ahead of time and that is called from C++?
// Expect: The compiler leaves the matrix products to the same library and fuses
//   what lies between them into loops, each of which passes once over its
//   tensors. Naive softmax alone is 5 passes that read and write; norm,
//   rotation and SwiGLU are as many. tiny at 512 tokens spends under half of
//   its time in products, so it takes 0.6 of the eager time. small multiplies
//   for nine tenths of its time and gains a tenth at most. Fused loops keep
//   fewer tensors, so the peak is lower. Sums in another order change the last
//   bits alone: textbook_error is near 1e-7 in fp32.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/prediction/dry_call.h"
#include "fixtures/steps/aoti/compiled_model.h"
#include "fixtures/steps/model_step.h"
#include "model/dry_run/dry_run.h"
#include "model/verification/relative_error.h"
#include "model/verification/verification.h"

namespace trainbench {
namespace {

using enum Precision;

enum class Runtime { kEager, kAoti };

std::string RuntimeName(Runtime runtime) {
  return runtime == Runtime::kEager ? "eager" : "aoti";
}

class Compiled : public ModelStep {
 public:
  struct Params {
    Runtime runtime;
    StepParams step;
    std::string packages;  // their directory
  };

  static Cost CostOf(const Params& p, const Device& device) {
    return ModelStep::CostOf(p.step, device);
  }

  // The compiler decides how much it needs. The check runs the eager step, as
  // does a dry run.
  void AddToCost(const DryCall& call, Cost& cost) const override {
    ModelStep::AddToCost(call, cost);
    if (runtime_ == Runtime::kEager) return;
    cost.check_peak_bytes = call.peak_bytes;
    cost.predicted_peak_bytes = 0;
    cost.components.clear();
  }

  static std::string Unavailable(const Params& p, const Device& device) {
    const std::string why = ModelStep::Unavailable(p.step, device);
    if (!why.empty() || p.runtime == Runtime::kEager) return why;
    return WhyNoPackage(p.packages, p.step, device);
  }

  Compiled(const Params& p, const Device& device)
      : ModelStep(p.step, device), runtime_(p.runtime) {
    if (p.runtime == Runtime::kEager || DryRun::IsOn()) return;
    compiled_ =
        std::make_unique<CompiledModel>(p.packages, p.step, device, model());
  }

  absl::Status Check() override {
    absl::Status status = ModelStep::Check();
    if (compiled_ != nullptr && status.ok()) status = CheckOutput();
    return status;
  }

  absl::Status CheckOutput() override {
    if (compiled_ == nullptr) return ModelStep::CheckOutput();
    return VerifyOutput(step().mode, model(), batch(), step().precision,
                        [this] { return compiled_->forward(batch().tokens); });
  }

  void Run(State& state) override {
    for (auto _ : state) {
      if (compiled_ == nullptr) {
        Step(state.phases());
      } else {
        state.phase(Phase::kForward);
        compiled_->forward(batch().tokens);
      }
    }
  }

  // textbook_error: how much the logits of the whole batch differ from the
  // eager ones, in norm.
  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples& sampling) override {
    if (compiled_ == nullptr) return ModelStep::MeasureExtra(sampling);
    NullObserver nobody;
    const at::Tensor expected = RunStep(step().mode, model(), nullptr, batch(),
                                        step().precision, nobody);
    const double error =
        RelativeError(compiled_->forward(batch().tokens), expected);
    return ExtraMetrics{{{"textbook_error", error}}};
  }

 private:
  Runtime runtime_;
  std::unique_ptr<CompiledModel> compiled_;  // null: eager
};

StepParams& CompiledStep(Compiled::Params& p) { return p.step; }

TRAINBENCH_REGISTER(Compiled,
                    "compiled/runtime/model/precision/mode=inference/batch/seq")
    ->Axis("runtime", &Compiled::Params::runtime,
           std::vector{Runtime::kEager, Runtime::kAoti}, RuntimeName)
    ->Axes(StepAxes<Compiled::Params>(CompiledStep, {"mode"}))
    ->Baseline("runtime", "eager")
    ->Smoke("model=tiny precision=fp32 batch=2 seq=32")
    ->Quick("model=tiny precision=fp32 batch=4 seq=128")
    ->QuickOnGpu("model=small precision=bf16_autocast batch=4 seq=128")
    ->Full("model=tiny,small precision=fp32,bf16_autocast batch=4 seq=128")
    ->Paper(absl::StrCat("precision=fp32,bf16_autocast batch=4 seq=128,512 "
                         "model=",
                         kPublishedModels))
    ->Complete([](Compiled::Params& p, const RunOptions& options,
                  const Device&) {
      p.step.mode = StepMode::kInference;
      p.packages = options.aoti;
      return p.step.precision == kFp32 || p.step.precision == kBf16Autocast;
    })
    ->Expect("the compiler takes at most 0.7 of tiny's time in fp32",
             {.counter = "p50_us",
              .rows = {{"runtime", "aoti"},
                       {"model", "tiny"},
                       {"precision", "fp32"}},
              .versus = {{"runtime", "eager"}}},
             AtMost(0.7))
    ->Expect("and makes nothing slower",
             {.counter = "p50_us",
              .rows = {{"runtime", "aoti"}},
              .versus = {{"runtime", "eager"}}},
             AtMost(1.02))
    ->Expect("fused loops keep fewer tensors",
             {.counter = "peak_bytes",
              .rows = {{"runtime", "aoti"}},
              .versus = {{"runtime", "eager"}}},
             AtMost(1))
    ->Expect("only the last bits of fp32 logits differ",
             {.counter = "textbook_error",
              .rows = {{"runtime", "aoti"}, {"precision", "fp32"}}},
             AtMost(1e-5));

}  // namespace
}  // namespace trainbench
