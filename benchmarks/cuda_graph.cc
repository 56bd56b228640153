// SPDX-License-Identifier: MIT
// Question: What does it save to record a step, or attention alone, as a CUDA
//   graph once and to replay it, instead of launching each kernel from the
//   host?
// Expect: A graph runs the same kernels on the same operands. A replayed step
//   has the bits of an eager one, replay_error 0; attention may differ where a
//   kernel adds by atomics. Only the host's time is saved: about 5 us for each
//   kernel that the device finishes sooner. A train step of tiny has 670
//   kernels of a few us each and gets several times as fast; large in bf16 at
//   2048 tokens keeps the device busy and gains a few percent. The graph has
//   the tensors of an eager call, so peak_ratio is 1, but keeps their memory,
//   pool_bytes, from everybody else. Recording takes about as long as an eager
//   call: a few replays pay it back.

#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/attention_step.h"
#include "fixtures/steps/graph/replayable.h"
#include "fixtures/steps/model_step.h"
#include "fixtures/steps/step_prediction.h"
#include "model/dry_run/dry_run.h"
#include "model/ops/attention_fwd_bwd.h"
#include "model/training/train_step.h"
#include "model/verification/verification.h"

namespace trainbench {
namespace {

using Tensors = std::vector<at::Tensor>;

enum class Launch { kEager, kGraph };

std::string LaunchName(Launch launch) {
  return launch == Launch::kEager ? "eager" : "graph";
}

constexpr std::array kLaunches = {Launch::kEager, Launch::kGraph};

// The stream of a capture has workspaces of its own.
int Workspaces(Launch launch) { return launch == Launch::kEager ? 1 : 2; }

// A graph keeps the tensors of an eager call, so a dry run makes one.
bool IsReplayed(Launch launch) {
  return launch == Launch::kGraph && !DryRun::IsOn();
}

// Forward and backward pass of attention alone.
class AttentionLaunch : public Replayable<AttentionStep> {
 public:
  struct Params {
    Launch launch;
    AttentionParams attention;
  };

  static Cost CostOf(const Params& p, const Device& device) {
    return AttentionStep::CostOf(p.attention, device);
  }

  static std::string Unavailable(const Params& p, const Device& device) {
    const std::string why = WhyNoGraphs(device);
    return why.empty() ? AttentionStep::Unavailable(p.attention, device) : why;
  }

  AttentionLaunch(const Params& p, const Device& device)
      : Replayable(p.attention, device), launch_(p.launch) {
    if (!IsReplayed(p.launch)) return;
    ReplayGraphOf(
        {.run = [this](PhaseObserver& o) { return ComputeResults(o); },
         .input = inputs().q},
        device);
  }

  void AddToCost(const DryCall& call, Cost& cost) const override {
    Replayable::AddToCost(call, cost);
    cost.library_bytes *= Workspaces(launch_);
  }

  void Run(State& state) override {
    for (auto _ : state) Step(state.phases());
  }

  absl::Status CheckOutput() override {
    if (graph() == nullptr) return Replayable::CheckOutput();
    const Tensors& results = graph()->ReplayAfresh();
    return Verify(results[0], {results[1], results[2], results[3]});
  }

  // Beside a graph, which keeps its memory, no eager call may fit.
  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples& sampling) override {
    if (graph() == nullptr) return Replayable::MeasureExtra(sampling);
    return ExtraMetrics{graph()->Counters()};
  }

 private:
  // Output and gradients.
  Tensors ComputeResults(PhaseObserver& phases) {
    phases.Enter(Phase::kForward);
    const at::Tensor output = AttentionForward(params().variant, inputs());
    phases.Enter(Phase::kBackward);
    const AttentionGradients gradients = AttentionBackward(inputs(), output);
    return {output.detach(), gradients.q, gradients.k, gradients.v};
  }

  Launch launch_;
};

class StepLaunch : public Replayable<ModelStep> {
 public:
  struct Params {
    Launch launch;
    StepParams step;
  };

  static Cost CostOf(const Params& p, const Device& device) {
    return ModelStep::CostOf(p.step, device);
  }

  static std::string Unavailable(const Params& p, const Device& device) {
    const std::string why = WhyNoGraphs(device);
    return why.empty() ? ModelStep::Unavailable(p.step, device) : why;
  }

  StepLaunch(const Params& p, const Device& device)
      : Replayable(p.step, device), launch_(p.launch), device_(device) {
    if (!IsReplayed(p.launch)) return;
    ReplayGraphOf(
        {.run = [this](PhaseObserver& o) { return ComputeResults(o); },
         .input = batch().tokens,
         .state = optimizer() ? Weights() : Tensors(),
         .sums = optimizer() ? optimizer()->State() : Tensors()},
        device);
  }

  void AddToCost(const DryCall& call, Cost& cost) const override {
    Replayable::AddToCost(call, cost);
    cost.library_bytes *= Workspaces(launch_);
    if (launch_ == Launch::kEager) return;
    // Beside the graph an eager forward pass runs.
    StepParams inference = step();
    inference.mode = StepMode::kInference;
    cost.check_peak_bytes = call.peak_bytes +
                            PredictStep(inference, device_).peak_bytes() -
                            cost.parameter_bytes;
  }

  void Run(State& state) override {
    for (auto _ : state) Step(state.phases());
  }

  absl::Status CheckOutput() override {
    if (graph() == nullptr) return Replayable::CheckOutput();
    return VerifyOutput(step().mode, model(), batch(), step().precision,
                        [&] { return graph()->ReplayAfresh().front(); });
  }

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples& sampling) override {
    auto extra = Replayable::MeasureExtra(sampling);
    if (extra.ok() && graph() != nullptr) extra->Append({graph()->Counters()});
    return extra;
  }

 private:
  // RunStep, with the gradients among the results where no update shows them.
  Tensors ComputeResults(PhaseObserver& phases) {
    if (step().mode != StepMode::kForwardBackward) {
      return {RunStep(step().mode, model(), optimizer(), batch(),
                      step().precision, phases)};
    }
    Tensors results = {
        ComputeGradients(model(), batch(), step().precision, phases)};
    for (const at::Tensor& parameter : Parameters(model())) {
      results.push_back(parameter.grad());
    }
    ReleaseGradients(model());
    return results;
  }

  Tensors Weights() {
    Tensors weights;
    for (const at::Tensor& parameter : Parameters(model())) {
      weights.push_back(parameter.detach());
    }
    return weights;
  }

  Launch launch_;
  Device device_;
};

StepParams& StepOfLaunch(StepLaunch::Params& p) { return p.step; }

// One parameter of the attention that is launched.
template <typename Member>
auto OfAttention(Member member) {
  return [member](AttentionLaunch::Params & p) -> auto& {
    return p.attention.*member;
  };
}

TRAINBENCH_REGISTER(AttentionLaunch,
                    "cuda_graph/launch/work=attention/variant/precision/batch/"
                    "seq/d_head")
    ->Axis("launch", &AttentionLaunch::Params::launch, kLaunches, LaunchName)
    ->Axis("variant", OfAttention(&AttentionParams::variant), AttentionKinds(),
           AttentionName)
    ->Axis("precision", OfAttention(&AttentionParams::precision),
           std::vector{Precision::kFp32, Precision::kBf16}, PrecisionName)
    ->Axis("batch", OfAttention(&AttentionParams::sequences))
    ->Axis("seq", OfAttention(&AttentionParams::seq))
    ->Axis("d_head", OfAttention(&AttentionParams::d_head),
           WholeNumbers{1, 1024})
    ->Baseline("launch", "eager")
    ->Smoke("variant=naive precision=fp32 batch=8 seq=128 d_head=32")
    ->QuickOnGpu("variant=own precision=bf16 batch=8 seq=256 d_head=64")
    ->Paper(
        "variant=naive precision=fp32 batch=8 seq=256,1024,4096,8192,16384 "
        "d_head=16,32,64,128",
        "variant=naive,sdpa_flash,own precision=bf16 batch=8 "
        "seq=256,1024,4096,8192,16384 d_head=16,32,64,128");

TRAINBENCH_REGISTER(StepLaunch,
                    "cuda_graph/launch/model/precision/mode/batch/seq")
    ->Axis("launch", &StepLaunch::Params::launch, kLaunches, LaunchName)
    ->Axes(StepAxes<StepLaunch::Params>(StepOfLaunch))
    ->Baseline("launch", "eager")
    ->Smoke(
        "model=tiny precision=fp32 mode=forward,forward_backward,train_step "
        "batch=2 seq=32")
    ->Quick("model=tiny precision=fp32 mode=train_step batch=2 seq=32")
    ->QuickOnGpu(
        "model=small precision=bf16_autocast "
        "mode=forward,forward_backward,train_step batch=4 seq=512")
    ->Full(
        "model=tiny precision=fp32 mode=forward,forward_backward,train_step "
        "batch=2 seq=32")
    ->Paper(absl::StrCat(
        "precision=fp32,bf16_autocast "
        "mode=forward,forward_backward,train_step batch=4 seq=128,512 model=",
        kPublishedModels))
    ->Expect("replayed train steps have the bits of eager ones",
             {.counter = "replay_error",
              .rows = {{"launch", "graph"}, {"mode", "train_step"}}},
             AtMost(0))
    ->Expect("a replay takes no longer than an eager call",
             {.counter = "p50_us",
              .rows = {{"launch", "graph"}},
              .versus = {{"launch", "eager"}}},
             AtMost(1.02))
    ->Expect("a train step of tiny takes a third of the time, or less",
             {.counter = "p50_us",
              .rows = {{"launch", "graph"},
                       {"model", "tiny"},
                       {"mode", "train_step"}},
              .versus = {{"launch", "eager"}}},
             AtMost(1.0 / 3))
    ->Expect("a graph has the tensors of an eager call",
             {.counter = "peak_bytes",
              .rows = {{"launch", "graph"}},
              .versus = {{"launch", "eager"}}},
             About(1, 0.02));

}  // namespace
}  // namespace trainbench
