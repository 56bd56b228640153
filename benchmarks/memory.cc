// SPDX-License-Identifier: MIT
// Question: How much memory does a step take, at which point of the step and
//   for which tensors, and does a dry run predict it?
// Expect: The dry run is right within 2 %: |prediction_error| stays below 0.02
//   in every row. Inference keeps little but the parameters: small has 128.6 M,
//   0.48 GiB in fp32. A train step adds as much for the gradients and twice as
//   much for the two moments: 1.92 GiB before its first token. Attention grows
//   with the square of the context: a score matrix has 4 B h T^2 bytes, which
//   exceeds the logits' 4 B T V from T = V / h on, 833 tokens for small and
//   2500 for tiny. bf16 autocast halves the activations but adds bf16 copies of
//   the fp32 parameters, so inference needs more memory than in fp32.

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/memory/allocation_recorder.h"
#include "fixtures/memory/memory_trace.h"
#include "fixtures/steps/memory_tables.h"
#include "fixtures/steps/model_step.h"
#include "fixtures/steps/step_prediction.h"
#include "model/accounting/flops.h"
#include "model/accounting/number.h"
#include "model/accounting/traffic.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

class Memory : public Fixture {
 public:
  struct Params {
    StepParams step;
    std::string trace_directory;
  };

  void AddToCost(const DryCall& call, Cost& cost) const override {
    step_->AddToCost(call, cost);
  }
  static std::string Unavailable(const Params& p, const Device& device) {
    return ModelStep::Unavailable(p.step, device);
  }

  Memory(const Params& p, const Device& device)
      : p_(p), device_(device), recorder_(TorchDevice(device)) {
    recorder_.Observe(
        [&] { step_ = std::make_unique<ModelStep>(p.step, device); });
    step_->MarkParameters(recorder_);
  }

  absl::Status Check() override {
    absl::Status status;
    recorder_.Observe([&] { status = step_->Check(); });
    return status;
  }

  absl::Status CheckOutput() override { return step_->CheckOutput(); }

  void Run(State& state) override {
    for (auto _ : state) step_->Step(state.phases());
  }

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples&) override {
    const auto run = [&](PhaseObserver& phases) { step_->Step(phases); };
    const AllocationTimeline timeline = recorder_.Record(run);
    if (!p_.trace_directory.empty()) {
      RETURN_IF_ERROR(TraceAllocations(
          recorder_,
          [&](PhaseObserver& phases) {
            for (int i = 0; i < kTracedSteps; ++i) step_->Step(phases);
          },
          p_.trace_directory, StepName("memory", p_.step).text()));
    }
    const double peak = Number(timeline.peak_bytes);
    const StepPrediction dry = PredictStep(p_.step, device_);
    ExtraMetrics extra;
    extra.counters = {
        // Counted in blocks by the recorder, not by the allocator.
        {"own_peak_bytes", peak},
        {"prediction_error", peak / Number(dry.peak_bytes()) - 1},
        {"predicted_parameter_bytes", Number(dry.parameter_bytes)},
        {"predicted_gradient_bytes", Number(dry.gradient_bytes)},
        {"predicted_optimizer_bytes", Number(dry.optimizer_bytes)},
        {"predicted_saved_bytes", Number(dry.saved_bytes)},
        {"residual_bytes", Number(ResidualBytes(p_.step))},
        {"logit_bytes", Number(LogitBytes(p_.step))}};
    if (p_.step.mode == StepMode::kTrainStep) AddCheckpointed(extra);
    extra.findings = {{"predicted_peak_at", PeakText(dry.call.timeline)}};
    extra.Append(MemoryTables(timeline, dry.call.timeline, p_.step));
    return extra;
  }

 private:
  // Predicts the step's peak and recomputed FLOPs if it kept only the inputs of
  // blocks.
  void AddCheckpointed(ExtraMetrics& extra) const {
    StepParams step = p_.step;
    step.model.checkpointing = {.kind = Checkpointing::Kind::kBlocks,
                                .every = 1};
    extra.counters["checkpointed_peak_bytes"] =
        Number(PredictStep(step, device_).peak_bytes());
    extra.counters["checkpointed_flops"] =
        RecomputedFlops(step.model, step.batch, step.seq, step.mode);
  }

  // Enough steps to show that a step leaves as much memory as it found.
  static constexpr int kTracedSteps = 3;

  Params p_;
  Device device_;
  AllocationRecorder recorder_;
  std::unique_ptr<ModelStep> step_;
};

TRAINBENCH_REGISTER(Memory, "memory/model/precision/mode/batch/seq")
    // Every step uses the same bytes, so one sample is enough.
    ->Options({.count = SamplingPlan::Count{.warmup_calls = 1, .samples = 1}})
    ->Axes(StepAxes<Memory::Params>(&Memory::Params::step))
    ->Smoke("model=tiny precision=fp32 mode=train_step batch=2 seq=32")
    ->Quick(
        "model=tiny precision=fp32 mode=inference,train_step batch=4 "
        "seq=128,256")
    ->QuickOnGpu(
        "model=2.7B precision=fp32,bf16_autocast batch=4 "
        "mode:seq=inference:512,train_step:128,train_step:512")
    ->Full(
        "model=tiny precision=fp32 mode=inference,forward,train_step batch=4 "
        "seq=128,256",
        "model=tiny precision=bf16_autocast mode=train_step batch=4 seq=128",
        "model=small precision=fp32 mode=inference,forward,train_step batch=1 "
        "seq=128")
    ->Paper(absl::StrCat(
        "precision=fp32,bf16_autocast mode=inference,forward,train_step "
        "batch=4 seq=128,256,512,1024 model=",
        kPublishedModels))
    ->Complete([](Memory::Params& p, const RunOptions& options) {
      p.trace_directory = options.memory_trace;
    })
    ->Expect("a dry run is within 2 % of the measured peak",
             Counter("own_peak_bytes").Per("predicted_peak_bytes"),
             About(1, 0.02))
    ->Expect("a train step of small takes 16 bytes of each parameter, or more",
             Counter("own_peak_bytes")
                 .Of("model=small precision=fp32 mode=train_step"),
             AtLeast(16 * 128.6e6))
    ->Expect("inference needs more memory under bf16 autocast than in fp32",
             Counter("own_peak_bytes")
                 .Of("precision=bf16_autocast mode=inference")
                 .Versus("precision=fp32"),
             AtLeast(1));

}  // namespace
}  // namespace trainbench
