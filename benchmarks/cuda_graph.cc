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

#include <optional>
#include <string>
#include <vector>

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

const std::vector<Launch> kLaunches = {Launch::kEager, Launch::kGraph};

// The stream of a capture has workspaces of its own.
int Workspaces(Launch launch) { return launch == Launch::kEager ? 1 : 2; }

// A graph keeps the tensors of an eager call, so a dry run makes one.
bool IsReplayed(Launch launch) {
  return launch == Launch::kGraph && !DryRun::IsOn();
}

// Forward and backward pass of attention alone.
class AttentionLaunch final : public Replayable<AttentionStep> {
 public:
  struct Params {
    Launch launch;
    AttentionParams attention;
  };

  static SweepPlan<Params> Sweep() {
    const auto in = [](auto member) {
      return [member](Params & p) -> auto& { return p.attention.*member; };
    };
    const std::string both = "launch=eager,graph batch=8 ";
    return {.axes = {{"launch", &Params::launch, kLaunches, LaunchName},
                     {"variant", in(&AttentionParams::variant),
                      AttentionKinds(), AttentionName},
                     {"precision", in(&AttentionParams::precision),
                      std::vector{Precision::kFp32, Precision::kBf16},
                      PrecisionName},
                     {"batch", in(&AttentionParams::sequences)},
                     {"seq", in(&AttentionParams::seq)},
                     {"d_head", in(&AttentionParams::d_head), {1, 1024}}},
            .grids = {.smoke = {both + "variant=naive precision=fp32 seq=128 "
                                       "d_head=32"},
                      .quick_gpu = {both + "variant=own precision=bf16 "
                                           "seq=256 d_head=64"},
                      .paper = {both + "variant=naive precision=fp32 "
                                       "seq=256,1024,4096,8192,16384 "
                                       "d_head=16,32,64,128",
                                both + "variant=naive,sdpa_flash,own "
                                       "precision=bf16 "
                                       "seq=256,1024,4096,8192,16384 "
                                       "d_head=16,32,64,128"}}};
  }

  static CaseName NameOf(const Params& p) {
    return CaseName("cuda_graph")
        .Word("launch", LaunchName(p.launch))
        .Word("work", "attention")
        .Word("variant", AttentionName(p.attention.variant))
        .Word("precision", PrecisionName(p.attention.precision))
        .Value("batch", p.attention.sequences)
        .Value("seq", p.attention.seq)
        .Value("d_head", p.attention.d_head);
  }

  static Cost CostOf(const Params& p, const Device& device) {
    return AttentionStep::CostOf(p.attention, device);
  }

  static std::string Unavailable(const Params& p, const Device& device) {
    const std::string why = WhyNoGraphs(device);
    return why.empty() ? AttentionStep::Unavailable(p.attention, device) : why;
  }

  static std::optional<Params> BaselineOf(const Params& p) {
    return BaselineWith(p, &Params::launch, Launch::kEager);
  }

  AttentionLaunch(const Params& p, const Device& device)
      : Replayable(p.attention, device), launch_(p.launch) {
    if (!IsReplayed(p.launch)) return;
    ReplayGraphOf({.run = [this](PhaseObserver& o) { return Call(o); },
                   .input = inputs().q},
                  device);
  }

  void AddToCost(const DryCall& call, Cost& cost) const override {
    Replayable::AddToCost(call, cost);
    cost.library_bytes *= Workspaces(launch_);
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
  Tensors Call(PhaseObserver& phases) {
    phases.Enter(Phase::kForward);
    const at::Tensor output = AttentionForward(params().variant, inputs());
    phases.Enter(Phase::kBackward);
    const AttentionGradients gradients = AttentionBackward(inputs(), output);
    return {output.detach(), gradients.q, gradients.k, gradients.v};
  }

  Launch launch_;
};

class StepLaunch final : public Replayable<ModelStep> {
 public:
  struct Params {
    Launch launch;
    StepParams step;
  };

  static SweepPlan<Params> Sweep() {
    std::vector<Axis<Params>> axes = {
        {"launch", &Params::launch, kLaunches, LaunchName}};
    for (auto& axis : StepAxes<Params>(&Params::step)) axes.push_back(axis);
    const std::string both = "launch=eager,graph batch=4 ";
    const std::string modes = "mode=forward,forward_backward,train_step ";
    const std::string tiny =
        "launch=eager,graph model=tiny precision=fp32 batch=2 seq=32 ";
    return {.axes = axes,
            .grids = {.smoke = {tiny + modes},
                      .quick = {tiny + "mode=train_step"},
                      .quick_gpu = {both + modes +
                                    "model=small precision=bf16_autocast "
                                    "seq=512"},
                      .full = {tiny + modes},
                      .paper = {both + modes +
                                "precision=fp32,bf16_autocast seq=128,512 "
                                "model=" +
                                kPublishedModels}}};
  }

  static std::vector<Expectation> Expectations(const Device&) {
    const RowSelection graph = {{"launch", "graph"}};
    const RowSelection eager = {{"launch", "eager"}};
    return {{"replayed train steps have the bits of eager ones",
             {.counter = "replay_error",
              .rows = {{"launch", "graph"}, {"mode", "train_step"}}},
             AtMost(0)},
            {"a replay takes no longer than an eager call",
             {.counter = "p50_us", .rows = graph, .versus = eager},
             AtMost(1.02)},
            {"a train step of tiny takes a third of the time, or less",
             {.counter = "p50_us",
              .rows = {{"launch", "graph"},
                       {"model", "tiny"},
                       {"mode", "train_step"}},
              .versus = eager},
             AtMost(1.0 / 3)},
            {"a graph has the tensors of an eager call",
             {.counter = "peak_bytes", .rows = graph, .versus = eager},
             About(1, 0.02)}};
  }

  static CaseName NameOf(const Params& p) {
    return StepName(CaseName("cuda_graph").Word("launch", LaunchName(p.launch)),
                    p.step);
  }

  static Cost CostOf(const Params& p, const Device& device) {
    return ModelStep::CostOf(p.step, device);
  }

  static std::string Unavailable(const Params& p, const Device& device) {
    const std::string why = WhyNoGraphs(device);
    return why.empty() ? ModelStep::Unavailable(p.step, device) : why;
  }

  static std::optional<Params> BaselineOf(const Params& p) {
    return BaselineWith(p, &Params::launch, Launch::kEager);
  }

  StepLaunch(const Params& p, const Device& device)
      : Replayable(p.step, device), launch_(p.launch), device_(device) {
    if (!IsReplayed(p.launch)) return;
    ReplayGraphOf({.run = [this](PhaseObserver& o) { return Call(o); },
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
  Tensors Call(PhaseObserver& phases) {
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

const bool kAttentionLaunchRegistered =
    Register<AttentionLaunch>() && Register<StepLaunch>();

}  // namespace
}  // namespace trainbench
