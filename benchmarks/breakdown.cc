// SPDX-License-Identifier: MIT
// Question: Where does the time of a step go: to which phase, which component
//   and which layer, and how much of it is matrix products?
// Expect: Time follows the FLOPs where matrix products dominate. small has
//   120.9 M matrix elements: 12 * 3 * 768 * 3072 = 84.9 M (70 %) in the
//   feed-forward matrices, 21.2 M (18 %) in the q, k and v projections, 7.7 M
//   in the head and 7.1 M in the output projections (6 % each). So ffn takes
//   about two thirds of the forward pass, and of the backward pass, which takes
//   twice as long. At seq:128 scores and value have 4 * 128 * 768 * 12 = 4.7 M
//   of 246.6 M FLOPs per token, 2 %. Softmax has none, but passes five times
//   over 12 * 12 * 128 = 18 k scores per token, so it takes more than 2 %. The
//   optimizer is bound by memory: 28 bytes for each of 128.6 M parameters, 3.6
//   GB, take 0.36 s at 10 GB/s. All layers take the same time.

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/base/file.h"
#include "fixtures/experiment/experiment.h"
#include "fixtures/experiment/multi_row_experiment.h"
#include "fixtures/profiling/attribution.h"
#include "fixtures/profiling/profiler.h"
#include "fixtures/profiling/profiler_ranges.h"
#include "fixtures/steps/breakdown_rows.h"
#include "fixtures/steps/model_step.h"

namespace trainbench {
namespace {

using enum Precision;
using enum StepMode;

// Profiles one step, which is not timed. The time of a row is the sum of the
// durations of its operators (CPU) or of its kernels (GPU).
class Breakdown final : public ModelStep {
 public:
  struct Params : StepParams {
    TimeOf time_of;
    std::string trace_directory;
    bool has_layers;  // whether each layer is a row
  };
  using Rows = std::map<std::string, Measurement>;

  Breakdown(const Params& p, const Device& device)
      : ModelStep(p, device), p_(p), device_(device) {}

  static std::vector<Params> Sweep(const RunOptions& options,
                                   const Device& device);
  static std::vector<Expectation> Expectations(const Device&);

  static std::vector<CaseName> RowsOf(const Params& p);
  absl::StatusOr<Rows> Measure();

 private:
  static std::vector<BreakdownRow> PartsOf(const Params& p);
  static CaseName NameOf(const Params& p, const BreakdownRow& part);
  absl::StatusOr<Trace> ProfileOneStep();
  absl::StatusOr<Attribution> AttributeOneStep(
      const std::vector<BreakdownRow>& parts);

  Params p_;
  const Device& device_;
};

std::vector<Breakdown::Params> Breakdown::Sweep(const RunOptions& options,
                                                const Device& device) {
  StepAxes axes = {.models = {"tiny", "small"},
                   .precisions = {kFp32},
                   .modes = {kTrainStep},
                   .seqs = {128}};
  if (options.suite == Suite::kSmoke) {
    axes.models = {"tiny"};
    axes.seqs = {32};
    axes.batch = 2;
  } else if (options.suite == Suite::kPaper) {
    axes = {.models = PublishedModels(),
            .precisions = {kFp32, kBf16Autocast},
            .modes = {kInference, kForward, kForwardBackward, kTrainStep},
            .seqs = {128, 256, 512, 1024}};
  } else if (device.is_cuda()) {
    axes = {.models = {"xl"},
            .precisions = {kFp32, kBf16Autocast},
            .modes = {kTrainStep},
            .seqs = {512}};
  }
  // The 48 layers of xl would be most rows of the quick suite.
  const bool has_layers = options.suite != Suite::kQuick || !device.is_cuda();
  std::vector<Params> passes;
  for (const StepParams& step : StepGrid(options, axes)) {
    passes.push_back({step,
                      device.is_cuda() ? TimeOf::kDeviceWork : TimeOf::kHostOps,
                      options.trace, has_layers});
  }
  return passes;
}

std::vector<Expectation> Breakdown::Expectations(const Device&) {
  const auto part = [](const std::string& phase, const std::string& component,
                       RowSelection versus) {
    return Quantity{.counter = "p50_us",
                    .rows = {{"model", "small"},
                             {"phase", phase},
                             {"component", component}},
                    .versus = std::move(versus)};
  };
  return {{"ffn takes two thirds of the forward pass",
           part("forward", "ffn", {{"component", "all"}}), About(0.667, 0.15)},
          {"ffn takes two thirds of the backward pass",
           part("backward", "ffn", {{"component", "all"}}), About(0.667, 0.15)},
          {"the backward pass takes twice the forward pass",
           part("backward", "all", {{"phase", "forward"}}), About(2, 0.15)},
          {"softmax takes more than 2 % of the forward pass",
           part("forward", "softmax", {{"component", "all"}}), AtLeast(0.02)},
          {"every layer takes the time of layer 1",
           part("forward", "block", {{"layer", "1"}}), About(1, 0.15)}};
}

CaseName Breakdown::NameOf(const Params& p, const BreakdownRow& part) {
  CaseName name = CaseName("breakdown")
                      .Word("model", p.model.name)
                      .Word("precision", PrecisionName(p.precision))
                      .Word("mode", StepModeName(p.mode))
                      .Word("phase", PhaseText(part))
                      .Word("component", ComponentText(part))
                      .Value("batch", p.batch)
                      .Value("seq", p.seq);
  if (part.layer) name.Value("layer", *part.layer);
  return name;
}

std::vector<BreakdownRow> Breakdown::PartsOf(const Params& p) {
  std::vector<BreakdownRow> parts = BreakdownRowsOf(p, p.time_of);
  if (!p.has_layers) {
    std::erase_if(parts,
                  [](const auto& part) { return part.layer.has_value(); });
  }
  return parts;
}

std::vector<CaseName> Breakdown::RowsOf(const Params& p) {
  std::vector<CaseName> rows;
  for (const BreakdownRow& part : PartsOf(p)) {
    rows.push_back(NameOf(p, part));
  }
  return rows;
}

absl::StatusOr<Trace> Breakdown::ProfileOneStep() {
  const auto path =
      CaseFile(p_.trace_directory, StepName("breakdown", p_).text(), ".json");
  if (!path.ok()) return path.status();
  NullObserver nobody;
  // The first steps allocate memory and build the rotary tables.
  Run(nobody);
  Run(nobody);
  const auto step = [&] {
    PhaseRanges phases(nobody);
    Run(phases);
  };
  return Profile(device_, step, *path);
}

Measurement RowOf(const BreakdownRow& part, const TimeShare& share,
                  const Attribution& step, TimeOf time_of) {
  const double us = 1e-3 * static_cast<double>(share.time_ns);
  Measurement row;
  // One step was profiled; the calls before it were not timed.
  row.sampling.first_call.total_us = std::nan("");
  const bool on_host = time_of == TimeOf::kHostOps;
  row.sampling.samples = {
      {.total_us = us, .host_us = on_host ? us : std::nan("")}};
  auto& counters = row.extra.counters;
  counters["share"] = TimeFraction(share.time_ns, step.total_ns);
  counters["matmul_share"] = TimeFraction(share.matmul_ns, share.time_ns);
  counters["calls"] = static_cast<double>(share.calls);
  counters["flops"] = share.flops;
  counters["top_calls"] = static_cast<double>(share.top_calls);
  counters["profiled_step_us"] = 1e-3 * static_cast<double>(step.wall_ns);
  if (ComponentText(part) == "all") {
    counters["unattributed_share"] = part.phase
                                         ? step.unattributed_share(*part.phase)
                                         : step.unattributed_share();
  }
  if (share.calls > 0) {
    row.extra.label = {{"top", ShortName(share.top_name)}};
  }
  return row;
}

absl::StatusOr<Attribution> Breakdown::AttributeOneStep(
    const std::vector<BreakdownRow>& parts) {
  const auto trace = ProfileOneStep();
  if (!trace.ok()) return trace.status();
  Attribution step = Attribute(*trace, p_.time_of);
  AddFusedAttentionFlops(p_, step);
  RestrictTo(parts, step);
  if (absl::Status status = CheckAttributed(step); !status.ok()) return status;
  return step;
}

absl::StatusOr<Breakdown::Rows> Breakdown::Measure() {
  const std::vector<BreakdownRow> parts = PartsOf(p_);
  auto step = AttributeOneStep(parts);
  // An operator that the host preempts has the pause in its time, a view too.
  for (int retries = 4;
       absl::IsFailedPrecondition(step.status()) && retries > 0; --retries) {
    step = AttributeOneStep(parts);
  }
  if (!step.ok()) return step.status();
  Rows rows;
  for (const BreakdownRow& part : parts) {
    const auto share = TimeShareOf(part, *step);
    if (!share.ok()) return share.status();
    rows[NameOf(p_, part).text()] = RowOf(part, *share, *step, p_.time_of);
  }
  return rows;
}

const bool kRegistered = RegisterMultiRow<Breakdown>();

}  // namespace
}  // namespace trainbench
