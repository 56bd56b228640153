// SPDX-License-Identifier: MIT
// Question: Where does the time of a step go: to which phase, which component
//   and which layer, and how much of it is matrix products?
// Expect: Time follows the FLOPs where matrix products dominate. In small, ffn
//   takes about two thirds of the forward pass, and of the backward pass, which
//   takes twice as long. small has 120.9 M matrix elements: 12 * 3 * 768 * 3072
//   = 84.9 M (70 %) in the feed-forward matrices, 21.2 M (18 %) in the q, k and
//   v projections, 7.7 M in the head and 7.1 M in the output projections (6 %
//   each). At seq:128 the products scores and value have 4 * 128 * 768 * 12 =
//   4.7 M of 246.6 M FLOPs per token, 2 %. Softmax has none, but takes more
//   than 1 %: its operators read or write 12 * 12 * 128 = 18 k scores per token
//   8 times, 0.59 MB, 20 us even at 30 GB/s, while 247 MFLOPs take 1.2 ms at
//   200 GFLOP/s.
//   The optimizer is memory-bound: 28 bytes for each of 128.6 M parameters,
//   3.6 GB, take 0.36 s at 10 GB/s. All layers take the same time, and the
//   profiled step takes as long as the timed one.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fixtures/base/file.h"
#include "fixtures/base/kernel_counts.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/profiling/attribution.h"
#include "fixtures/steps/breakdown_measurement.h"
#include "fixtures/steps/breakdown_rows.h"
#include "fixtures/steps/model_step.h"
#include "fixtures/steps/profile_document.h"
#include "fixtures/steps/profiled_passes.h"
#include "fixtures/steps/step_prediction.h"
#include "fixtures/timing/disturbances.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

// The number of components and gaps to print, over all phases.
constexpr std::size_t kPrintedParts = 5;

// A pass profiles kStepsOfAllPasses divided by the rounds, but no fewer than
// kFewestSteps.
constexpr int kStepsOfAllPasses = 18, kFewestSteps = 3;

CaseName NameOfPart(const StepParams& p, const std::string& phase,
                    const std::string& component) {
  return CaseName("breakdown")
      .Word("model", p.model.name)
      .Word("precision", PrecisionName(p.precision))
      .Word("mode", StepModeName(p.mode))
      .Word("phase", phase)
      .Word("component", component)
      .Value("batch", p.batch)
      .Value("seq", p.seq);
}

// Profiles a step several times. The time of a row is the total duration of its
// operators (CPU) or kernels (GPU) in a pass, or of the gaps between them.
class Breakdown final : public ModelStep {
 public:
  struct Params : StepParams {
    PassPlan plan;
    std::string trace_directory;
    bool has_layers;   // whether each layer is a row
    bool has_details;  // whether small rows are only in the result file
  };

  Breakdown(const Params& p, const Device& device)
      : ModelStep(p, device), p_(p) {}

  // The unprofiled step, timed in the usual way for comparison.
  static CaseName NameOf(const Params& p) {
    return NameOfPart(p, "step", "timed");
  }
  void Run(State& state) override {
    for (auto _ : state) Step(state.phases());
  }

  static std::vector<CaseName> RowsOf(const Params& p);
  static CaseName WholeOf(const Params& p) { return NameOfRow(p, {}); }
  absl::StatusOr<RowsOfPass> Measure();

 private:
  static std::vector<StepPart> PartsOf(const Params& p);
  static CaseName NameOfRow(const Params& p, const StepPart& part);
  // Marks all rows as details except the step, phases and the largest parts.
  void MarkDetails(const std::vector<StepPart>& parts, RowsOfPass& rows) const;

  Params p_;
};

PassPlan PlanOf(const RunOptions& options, const Device& device) {
  PassPlan plan;
  plan.time_of = device.is_cuda() ? TimeOf::kDeviceWork : TimeOf::kHostOps;
  plan.warmup_calls = options.warmup_calls.value_or(plan.warmup_calls);
  plan.injected_delay = options.injected_delay_percent / 100;
  if (!device.is_cuda()) {
    // Each round makes a pass anew; together they have as many steps.
    plan.passes = std::clamp(kStepsOfAllPasses / options.rounds, kFewestSteps,
                             plan.passes);
  }
  plan.passes = options.samples.value_or(plan.passes);
  return plan;
}

// Returns the same step with fused operations, if the device has them.
StepParams FusedOf(const StepParams& step, const Device& device) {
  StepParams fused = step;
  fused.model.implementation = Implementation::kFused;
  const bool has_them =
      ImplementationUnavailable(fused.model, device.kind).empty();
  return has_them ? fused : step;
}

CaseName Breakdown::NameOfRow(const Params& p, const StepPart& part) {
  CaseName name = NameOfPart(p, PhaseText(part), ComponentText(part));
  if (part.layer) name.Value("layer", *part.layer);
  return name;
}

std::vector<StepPart> Breakdown::PartsOf(const Params& p) {
  std::vector<StepPart> parts = BreakdownRowsOf(p, p.plan.time_of);
  if (!p.has_layers) {
    std::erase_if(parts, [](const StepPart& part) { return part.is_layer(); });
  }
  return parts;
}

std::vector<CaseName> Breakdown::RowsOf(const Params& p) {
  std::vector<CaseName> rows;
  for (const StepPart& part : PartsOf(p)) {
    rows.push_back(NameOfRow(p, part));
  }
  return rows;
}

void Breakdown::MarkDetails(const std::vector<StepPart>& parts,
                            RowsOfPass& rows) const {
  std::vector<Measurement*> addends;  // rows that add up to the step's time
  for (const StepPart& part : parts) {
    if (part.is_whole()) continue;
    Measurement& row = rows.at(NameOfRow(p_, part).text());
    row.is_detail = true;
    if (part.component || part.is_gap()) addends.push_back(&row);
  }
  std::stable_sort(addends.begin(), addends.end(), [](auto* a, auto* b) {
    return MedianUs(a->sampling) > MedianUs(b->sampling);
  });
  if (addends.size() > kPrintedParts) addends.resize(kPrintedParts);
  for (Measurement* row : addends) row->is_detail = false;
}

absl::StatusOr<RowsOfPass> Breakdown::Measure() {
  const std::vector<StepPart> parts = PartsOf(p_);
  ASSIGN_OR_RETURN(
      const auto path,
      CaseFile(p_.trace_directory, StepName("breakdown", p_).text(), ".json"));
  PassPlan plan = p_.plan;
  plan.chrome_trace = path;
  const auto begin = ReadWaitingTimes();
  ASSIGN_OR_RETURN(std::vector<ProfiledPass> passes,
                   ProfilePasses(*this, device(), plan));
  const auto end = ReadWaitingTimes();
  for (ProfiledPass& pass : passes) {
    SetFusedAttentionFlops(p_, pass.step);
    RestrictTo(parts, pass.step);
  }
  RETURN_IF_ERROR(CheckAttributed(passes));
  const WorkByPart own = PredictStep(p_, device()).call.work;
  const WorkByPart fused =
      PredictStep(FusedOf(p_, device()), device()).call.work;
  RowsOfPass rows;
  for (const StepPart& part : parts) {
    ASSIGN_OR_RETURN(auto row, MeasurementOf(part, passes, plan.time_of));
    // Once, not per part.
    if (part == StepPart()) AddWaiting(begin, end, row.sampling);
    AddTraffic(part, own, fused, row.extra);
    rows[NameOfRow(p_, part).text()] = std::move(row);
  }
  if (p_.has_details) MarkDetails(parts, rows);
  rows.at(WholeOf(p_).text()).extra.tables["profiles"] =
      ProfileDocument(passes, plan.time_of, device().has_times());
  return rows;
}

TRAINBENCH_REGISTER(Breakdown, "breakdown")
    ->Axes(StepAxes<Breakdown::Params>())
    ->Smoke(
        "model=tiny precision=fp32 mode=inference,train_step batch=2 seq=32")
    ->Quick("model=tiny precision=fp32 mode=train_step batch=4 seq=128")
    // The smaller step is one that cuda_graph replays.
    ->QuickOnGpu(
        "model=small precision=bf16_autocast mode=train_step batch=4 seq=512",
        "model=xl precision=fp32 mode=train_step batch=4 seq=512",
        "model=xl precision=bf16_autocast mode=inference,train_step batch=4 "
        "seq=512")
    ->Full(
        "model=tiny,small precision=fp32 mode=inference,train_step batch=4 "
        "seq=128")
    ->Paper(absl::StrCat(
        "precision=fp32,bf16_autocast "
        "mode=inference,forward,forward_backward,train_step batch=4 "
        "seq=128,256,512,1024 model=",
        kPublishedModels))
    ->Complete([](Breakdown::Params& p, const RunOptions& options,
                  const Device& device) {
      p.plan = PlanOf(options, device);
      p.trace_directory = options.trace;
      p.has_details = options.suite == Suite::kQuick;
      // The 48 layers of xl would be most rows of the full suite, and the
      // forward pass of a train step shows its layers.
      const bool is_short = p.has_details || options.suite == Suite::kFull;
      p.has_layers =
          !is_short || (!device.is_cuda() && p.mode == StepMode::kTrainStep);
    })
    ->Expect("ffn takes two thirds of the forward pass",
             Time()
                 .Of("model=small phase=forward component=ffn")
                 .Versus("component=all"),
             About(0.667, 0.15))
    ->Expect("ffn takes two thirds of the backward pass",
             Time()
                 .Of("model=small phase=backward component=ffn")
                 .Versus("component=all"),
             About(0.667, 0.15))
    ->Expect("the backward pass takes twice the forward pass",
             Time()
                 .Of("model=small phase=backward component=all")
                 .Versus("phase=forward"),
             About(2, 0.15))
    ->Expect("softmax takes more than 1 % of the forward pass",
             Time()
                 .Of("model=small phase=forward component=softmax")
                 .Versus("component=all"),
             AtLeast(0.01))
    ->Expect("every layer takes the time of layer 1",
             Time()
                 .Of("model=small phase=forward component=block")
                 .Versus("layer=1"),
             About(1, 0.15))
    ->Expect("the profiled step takes the time of the timed one",
             Time().Of("phase=step component=all").Versus("component=timed"),
             About(1, 0.15));

}  // namespace
}  // namespace trainbench
