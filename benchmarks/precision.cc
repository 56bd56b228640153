// SPDX-License-Identifier: MIT
// Question: What do TF32, bf16 autocast and bf16 weights gain over IEEE fp32,
//   in time and in memory, and what do they cost in accuracy?
// Expect: Matrix products gain most, on devices with instructions for them: an
//   H200's data sheet promises 7.4 times (tf32) and 14.8 times (bf16) the
//   FLOP/s of fp32. Elementwise work gains less, and its share shrinks in
//   larger models, so the speedup grows with the model. A CPU without bf16
//   instructions emulates them and is slower than in fp32. logits_error rises
//   from about 1e-6 with fp32's 24 significand bits to about 1e-3 with tf32's
//   11 and about 1e-2 with bf16's 8. bf16 weights halve parameters, gradients
//   and moments. But norms, softmax and loss stay fp32, so peak_ratio is above
//   0.5: tiny's loss alone holds three fp32 tensors of its 512 x 10000 logits,
//   59 of 139 MiB. Autocast keeps fp32 weights and adds bf16 copies, so it
//   saves only activations: a quarter of the peak of tiny's forward pass of 512
//   tokens.

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/profiling/kernel_families.h"
#include "fixtures/profiling/profiler.h"
#include "fixtures/steps/model_step.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

class PrecisionSweep : public ModelStep {
 public:
  using ModelStep::ModelStep;

  void Run(State& state) override {
    for (auto _ : state) Step(state.phases());
  }

  absl::StatusOr<ExtraMetrics> MeasureProfiled() override {
    // A CPU's kernels have no names.
    if (!device().is_cuda()) return ExtraMetrics();
    ASSIGN_OR_RETURN(const Trace trace,
                     Profile(device(), [&] { Step(NoObserver()); }));
    ASSIGN_OR_RETURN(const auto kernels,
                     ProvePrecision(trace, step().precision));
    return ExtraMetrics{{}, {{"kernels", kernels}}};
  }
};

Expectation TimeOfBf16Weights(const Device& device) {
  const Quantity time = Time().Of("precision=bf16").Versus("precision=fp32");
  if (device.is_cuda() || device.native_bf16) {
    return {"a step with bf16 weights is faster than in fp32", time, AtMost(1)};
  }
  return {"emulated bf16 is slower than fp32", time, AtLeast(1)};
}

TRAINBENCH_REGISTER(PrecisionSweep, "precision/model/precision/mode/batch/seq")
    ->Axes(StepAxes<StepParams>())
    ->Baseline("precision", "fp32")
    // Other batches and lengths multiply in the same arithmetic.
    ->Profiles("precision", "mode", "model")
    ->Smoke(
        "model=tiny precision=fp32,bf16 mode=forward_backward batch=2 seq=32")
    ->Quick(
        "model=tiny precision=fp32,bf16_autocast,bf16 mode=train_step batch=1 "
        "seq=128")
    ->QuickOnGpu(
        "model=small,large precision=fp32,tf32,bf16_autocast,bf16 "
        "mode=train_step batch=4 seq=512")
    ->Full(
        "model=tiny precision=fp32,bf16_autocast,bf16 "
        "mode=forward,train_step batch=4 seq=128",
        "model=tiny precision=fp32,bf16_autocast,bf16 mode=train_step batch=1 "
        "seq=128")
    ->Paper(absl::StrCat("precision=fp32,tf32,bf16_autocast,bf16 "
                         "mode=forward,forward_backward,train_step batch=4 "
                         "seq=128,256,512,1024 model=",
                         kPublishedModels))
    ->Expect(TimeOfBf16Weights)
    ->Expect("fp32 logits are off by about 1e-6",
             Counter("logits_error").Of("precision=fp32"), AtMost(1e-5))
    ->Expect("tf32 logits are off by about 1e-3",
             Counter("logits_error").Of("precision=tf32"), AtMost(3e-3))
    ->Expect("bf16 logits are off by about 1e-2",
             Counter("logits_error").Of("precision=bf16"), AtMost(3e-2))
    ->Expect(
        "bf16 weights save less than half of the peak",
        Counter("peak_bytes").Of("precision=bf16").Versus("precision=fp32"),
        AtLeast(0.5))
    ->Expect("autocast saves less than half of a forward pass of 512 tokens",
             Counter("peak_bytes")
                 .Of("precision=bf16_autocast mode=forward batch=4 seq=128")
                 .Versus("precision=fp32"),
             AtLeast(0.5));

}  // namespace
}  // namespace trainbench
