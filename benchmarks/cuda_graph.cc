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

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/steps/graph/captured_call.h"
#include "fixtures/steps/model_step.h"
#include "model/accounting/attention.h"
#include "model/accounting/library.h"
#include "model/accounting/memory.h"
#include "model/nn/dtype.h"
#include "model/ops/attention_fwd_bwd.h"
#include "model/ops/attention_verification.h"
#include "model/training/precision_scope.h"
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

// What a row is compared with.
template <typename Params>
std::optional<Params> EagerOf(Params p) {
  if (p.launch == Launch::kEager) return std::nullopt;
  p.launch = Launch::kEager;
  return p;
}

// The stream of a capture has workspaces of its own.
int Workspaces(Launch launch) { return launch == Launch::kEager ? 1 : 2; }

// Forward and backward pass of attention alone.
class AttentionLaunch final : public Workload {
 public:
  struct Params {
    Launch launch;
    AttentionKind variant;
    Precision precision;  // fp32 or bf16
    int64_t batch;
    int64_t seq;
    int64_t d_head;
  };

  static SweepPlan<Params> Sweep() {
    const std::string both = "launch=eager,graph batch=8 ";
    return {
        .axes = {{"launch", &Params::launch, kLaunches, LaunchName},
                 {"variant", &Params::variant, AttentionKinds(), AttentionName},
                 {"precision", &Params::precision,
                  std::vector{Precision::kFp32, Precision::kBf16},
                  PrecisionName},
                 {"batch", &Params::batch},
                 {"seq", &Params::seq},
                 {"d_head", &Params::d_head, {1, 1024}}},
        .grids = {.smoke = {both + "variant=naive precision=fp32 seq=128 "
                                   "d_head=32"},
                  .quick_gpu = {both + "variant=naive,own precision=bf16 "
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
        .Word("variant", AttentionName(p.variant))
        .Word("precision", PrecisionName(p.precision))
        .Value("batch", p.batch)
        .Value("seq", p.seq)
        .Value("d_head", p.d_head);
  }

  static Cost CostOf(const Params& p, const Device& device) {
    const AttentionQuery query = QueryOf(p, device);
    const AttentionMemory memory = EstimateAttention(query);
    const double flops = AttentionFlops(query, Phase::kForward) +
                         AttentionFlops(query, Phase::kBackward);
    return {.flops = flops,
            .least_flops = LeastAttentionFlops(query, Phase::kForward) +
                           LeastAttentionFlops(query, Phase::kBackward),
            .precision = p.precision,
            .bytes = AttentionBytes(query, Phase::kForward) +
                     AttentionBytes(query, Phase::kBackward),
            .predicted_peak_bytes = memory.peak.bytes,
            .library_bytes =
                Workspaces(p.launch) *
                LibraryBytesBound(
                    {.on_cpu = query.on_cpu,
                     .precision = p.precision,
                     .threads = query.threads,
                     .result_elements = LargestProductElements(query)}),
            .largest_term = memory.largest_term};
  }

  static std::string Unavailable(const Params& p, const Device& device) {
    const std::string why = WhyNoGraphs(device);
    if (!why.empty()) return why;
    return AttentionUnavailable(p.variant, device.kind,
                                p.precision == Precision::kBf16, p.d_head);
  }

  static std::optional<Params> BaselineOf(const Params& p) {
    return EagerOf(p);
  }

  AttentionLaunch(const Params& p, const Device& device)
      : p_(p),
        matmul_(p.precision),
        inputs_(RandomAttentionInputs(p.batch, p.seq, p.d_head,
                                      at::TensorOptions()
                                          .device(TorchDevice(device))
                                          .dtype(WeightType(p.precision)))) {
    if (p.launch == Launch::kEager) return;
    graph_ = std::make_unique<CapturedCall>(
        RepeatableCall{.run = [this](PhaseObserver& o) { return Call(o); },
                       .input = inputs_.q},
        MakeCudaGraph(device));
  }

  absl::Status Check() override {
    NullObserver nobody;
    absl::Status status = Verify(Call(nobody));
    if (graph_ != nullptr) status.Update(graph_->Verify());
    return status;
  }

  absl::Status CheckOutput() override {
    NullObserver nobody;
    return Verify(graph_ == nullptr ? Call(nobody) : graph_->ReplayAfresh());
  }

  void Run(PhaseObserver& phases) override {
    if (graph_ != nullptr) return graph_->Replay(phases);
    Call(phases);
  }

  int64_t UncountedBytes() const override {
    return graph_ == nullptr ? 0 : graph_->UncountedBytes();
  }

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples&) override {
    if (graph_ == nullptr) return ExtraMetrics();
    return ExtraMetrics{graph_->Counters()};
  }

 private:
  // Output and gradients.
  Tensors Call(PhaseObserver& phases) {
    phases.Enter(Phase::kForward);
    const at::Tensor output = AttentionForward(p_.variant, inputs_);
    phases.Enter(Phase::kBackward);
    const AttentionGradients gradients = AttentionBackward(inputs_, output);
    return {output.detach(), gradients.q, gradients.k, gradients.v};
  }

  absl::Status Verify(const Tensors& results) const {
    return VerifyAttention(inputs_, results[0],
                           {results[1], results[2], results[3]},
                           p_.precision == Precision::kBf16 ? 2e-2 : 1e-4);
  }

  static AttentionQuery QueryOf(const Params& p, const Device& device) {
    return {.attention = p.variant,
            .batch = p.batch,
            .seq = p.seq,
            .d_head = p.d_head,
            .bf16 = p.precision == Precision::kBf16,
            .on_cpu = !device.is_cuda(),
            .threads = device.Threads(),
            .multiprocessors = device.is_cuda() ? device.cores : 0};
  }

  Params p_;
  MatmulScope matmul_;
  AttentionInputs inputs_;
  std::unique_ptr<CapturedCall> graph_;  // null: eager
};

class StepLaunch final : public ModelStep {
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
    return {.axes = axes,
            .grids = {.smoke = {"launch=eager,graph model=tiny precision=fp32 "
                                "batch=2 seq=32 " +
                                modes},
                      .quick_gpu = {both + modes +
                                    "model=small precision=bf16_autocast "
                                    "seq=512"},
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
    return CaseName("cuda_graph")
        .Word("launch", LaunchName(p.launch))
        .Word("model", p.step.model.name)
        .Word("precision", PrecisionName(p.step.precision))
        .Word("mode", StepModeName(p.step.mode))
        .Value("batch", p.step.batch)
        .Value("seq", p.step.seq);
  }

  static Cost CostOf(const Params& p, const Device& device) {
    Cost cost = ModelStep::CostOf(p.step, device);
    if (p.launch == Launch::kEager) return cost;
    // Beside the graph an eager forward pass runs.
    MemoryQuery inference = StepMemory(p.step, device);
    inference.mode = StepMode::kInference;
    cost.check_peak_bytes = cost.predicted_peak_bytes +
                            EstimateMemory(inference).peak.bytes -
                            cost.parameter_bytes;
    cost.library_bytes *= Workspaces(p.launch);
    return cost;
  }

  static std::string Unavailable(const Params&, const Device& device) {
    return WhyNoGraphs(device);
  }

  static std::optional<Params> BaselineOf(const Params& p) {
    return EagerOf(p);
  }

  StepLaunch(const Params& p, const Device& device)
      : ModelStep(p.step, device) {
    if (p.launch == Launch::kEager) return;
    graph_ = std::make_unique<CapturedCall>(
        RepeatableCall{.run = [this](PhaseObserver& o) { return Call(o); },
                       .input = batch().tokens,
                       .state = optimizer() ? Weights() : Tensors(),
                       .sums = optimizer() ? optimizer()->State() : Tensors()},
        MakeCudaGraph(device));
  }

  absl::Status Check() override {
    absl::Status status = ModelStep::Check();
    if (graph_ != nullptr) status.Update(graph_->Verify());
    return status;
  }

  absl::Status CheckOutput() override {
    if (graph_ == nullptr) return ModelStep::CheckOutput();
    return VerifyOutput(step().mode, model(), batch(), step().precision,
                        [&] { return graph_->ReplayAfresh().front(); });
  }

  void Run(PhaseObserver& phases) override {
    if (graph_ == nullptr) return ModelStep::Run(phases);
    graph_->Replay(phases);
  }

  int64_t UncountedBytes() const override {
    return graph_ == nullptr ? 0 : graph_->UncountedBytes();
  }

  absl::StatusOr<ExtraMetrics> MeasureExtra(const Samples& sampling) override {
    auto extra = ModelStep::MeasureExtra(sampling);
    if (extra.ok() && graph_ != nullptr) extra->Append({graph_->Counters()});
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

  std::unique_ptr<CapturedCall> graph_;  // null: eager
};

const bool kRegistered = Register<AttentionLaunch>() && Register<StepLaunch>();

}  // namespace
}  // namespace trainbench
