// SPDX-License-Identifier: MIT
// Question: What do TF32, bf16 autocast and bf16 weights gain over IEEE fp32,
//   in time and in memory, and what do they cost in accuracy?
// Expect: Matrix products gain most, on devices with instructions for them: the
//   data sheet of an H200 promises 7.4 times (tf32) and 14.8 times (bf16) the
//   FLOP/s of fp32. Elementwise work gains less, and its share shrinks in
//   larger models, so speedup grows with the model. A CPU without bf16
//   instructions emulates them and is slower than fp32. Rounding to 8
//   significand bits instead of 24 raises logits_error from about 1e-6 to about
//   1e-2, and tf32's 11 bits give about 1e-3. bf16 weights halve parameters,
//   gradients and moments, but norms, softmax and loss stay fp32, so peak_ratio
//   is above 0.5: tiny's loss alone holds three fp32 tensors of its 512 x 10000
//   logits, 59 of 139 MiB. Autocast keeps fp32 weights and adds bf16 copies of
//   them, so it saves only activations: a quarter of the peak of tiny's forward
//   pass of 512 tokens.

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/profiling/kernel_families.h"
#include "fixtures/profiling/profiler.h"
#include "fixtures/steps/model_step.h"

namespace trainbench {
namespace {

using enum Precision;
using enum StepMode;

class PrecisionSweep final : public ModelStep {
 public:
  using Params = StepParams;

  PrecisionSweep(const Params& p, const Device& device)
      : ModelStep(p, device), device_(device) {}

  static CaseName NameOf(const Params& p) { return StepName("precision", p); }

  static std::vector<Expectation> Expectations(const Device& device) {
    const auto error_of = [](const std::string& precision) {
      return Quantity{.counter = "logits_error",
                      .rows = {{"precision", precision}}};
    };
    const bool is_fast = device.is_cuda() || device.native_bf16;
    return {
        {is_fast ? "a step with bf16 weights is faster than in fp32"
                 : "emulated bf16 is slower than fp32",
         {.counter = "p50_us",
          .rows = {{"precision", "bf16"}},
          .versus = {{"precision", "fp32"}}},
         is_fast ? AtMost(1) : AtLeast(1)},
        {"fp32 logits are off by about 1e-6", error_of("fp32"), AtMost(1e-5)},
        {"tf32 logits are off by about 1e-3", error_of("tf32"), AtMost(3e-3)},
        {"bf16 logits are off by about 1e-2", error_of("bf16"), AtMost(3e-2)},
        {"bf16 weights save less than half of the peak",
         {.counter = "peak_bytes",
          .rows = {{"precision", "bf16"}},
          .versus = {{"precision", "fp32"}}},
         AtLeast(0.5)},
        {"autocast saves less than half of a forward pass of 512 tokens",
         {.counter = "peak_bytes",
          .rows = {{"precision", "bf16_autocast"},
                   {"mode", "forward"},
                   {"batch", "4"},
                   {"seq", "128"}},
          .versus = {{"precision", "fp32"}}},
         AtLeast(0.5)}};
  }

  static std::optional<Params> BaselineOf(const Params& p) {
    return BaselineWith(p, &Params::precision, kFp32);
  }

  static SweepPlan<Params> Sweep() {
    const std::string tiny =
        "model=tiny precision=fp32,bf16_autocast,bf16 batch=4 seq=128";
    return {
        .axes = StepAxes<Params>(),
        .grids = {.smoke = {"model=tiny precision=fp32,bf16 "
                            "mode=forward_backward batch=2 seq=32"},
                  .quick = {"mode=train_step " + tiny},
                  .quick_gpu = {"model=small,large "
                                "precision=fp32,tf32,bf16_autocast,bf16 "
                                "mode=train_step batch=4 seq=512"},
                  .full = {"mode=forward,train_step " + tiny},
                  .paper = {absl::StrCat(
                      "model=", kPublishedModels,
                      " precision=fp32,tf32,bf16_autocast,bf16 mode=forward,"
                      "forward_backward,train_step batch=4 "
                      "seq=128,256,512,1024")}}};
  }

  // A CPU has no kernel names. Other shapes multiply in the same arithmetic.
  static std::string ProfileKeyOf(const Params& p, const Device& device) {
    if (!device.is_cuda()) return "";
    return std::string(PrecisionName(p.precision)) + "/" +
           std::string(StepModeName(p.mode));
  }

  absl::StatusOr<ExtraMetrics> MeasureProfiled() override {
    NullObserver nobody;
    const auto trace = Profile(device_, [&] { Run(nobody); });
    if (!trace.ok()) return trace.status();
    const auto kernels = ProvePrecision(*trace, step().precision);
    if (!kernels.ok()) return kernels.status();
    return ExtraMetrics{{}, {{"kernels", *kernels}}};
  }

 private:
  const Device& device_;
};

const bool kPrecisionSweepRegistered = Register<PrecisionSweep>();

}  // namespace
}  // namespace trainbench
