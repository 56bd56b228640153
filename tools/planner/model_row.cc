// SPDX-License-Identifier: MIT

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "fixtures/device/device.h"
#include "fixtures/memory/allocation_recorder.h"
#include "fixtures/memory/allocation_summary.h"
#include "fixtures/prediction/dry_call.h"
#include "fixtures/ranks/errors.h"
#include "fixtures/steps/model_step.h"
#include "fixtures/steps/step_prediction.h"
#include "model/accounting/flops.h"
#include "model/accounting/parameters.h"
#include "model/accounting/traffic.h"
#include "model/spec/component.h"
#include "model/spec/config.h"
#include "model/spec/parallel/tensor_part.h"
#include "model/spec/phase.h"
#include "model/spec/status_macros.h"
#include "tools/planner/answers.h"
#include "tools/planner/request.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

// Returns one number of each component.
template <typename Part, typename Number>
Json ByComponent(const std::vector<Part>& parts, Number Part::*number) {
  Json json = Json::object();
  for (const Part& part : parts) {
    json[ComponentName(part.component)] = part.*number;
  }
  return json;
}

// Returns kResidual for a block that no component made: it joins two.
Component ComponentOf(const RecordedBlock& block) {
  return block.place.component.value_or(Component::kResidual);
}

// Returns, for each phase, the most bytes that are allocated at once, and the
// tensor that reaches this peak, as in PeakText.
Json HighestPoints(const AllocationTimeline& timeline) {
  Json points = Json::array();
  std::optional<Phase> phase;
  int64_t live_bytes = timeline.live_before, highest = 0;
  for (const AllocationEvent& event : timeline.events) {
    if (event.phase && event.phase != phase) {
      phase = event.phase;
      highest = live_bytes;
      points.push_back(
          {{"phase", PhaseName(*phase)},
           {"name", absl::StrCat("the beginning of ", PhaseName(*phase))},
           {"bytes", highest}});
    }
    live_bytes = event.live_bytes;
    if (!phase || live_bytes <= highest) continue;
    highest = live_bytes;
    points.back()["name"] = MakerAndPlaceText(timeline.blocks[event.block]);
    points.back()["bytes"] = highest;
  }
  return points;
}

Json Tensor(absl::string_view name, Component component, int64_t bytes) {
  return {{"name", name},
          {"component", ComponentName(component)},
          {"bytes", bytes}};
}

// Returns the component of the largest parameter, and its bytes.
std::pair<Component, int64_t> LargestParameter(const StepParams& step) {
  const ModelConfig& model = step.model;
  const int64_t width = WeightBytes(step.precision);
  std::pair<Component, int64_t> largest;
  for (const auto& [component, rows] :
       {std::pair{Component::kEmbedding, std::max(model.vocab, model.context)},
        {Component::kProjections, model.d_attention()},
        {Component::kFfn, model.d_ff}}) {
    const int64_t bytes = width * rows * model.d_model;
    if (bytes > largest.second) largest = {component, bytes};
  }
  return largest;
}

// Parameters included.
Json LargestTensor(const StepParams& step, const AllocationTimeline& timeline) {
  const auto [component, bytes] = LargestParameter(step);
  for (const AllocationGroup& group : LargestAllocations(timeline, 1)) {
    const RecordedBlock& block = group.like;
    if (block.bytes <= bytes) continue;
    return Tensor(MakerText(block), ComponentOf(block), block.bytes);
  }
  return Tensor("parameter", component, bytes);
}

Json SavedByComponent(const std::vector<RecordedBlock>& kept) {
  std::map<Component, int64_t> bytes;
  for (const RecordedBlock& block : kept) {
    bytes[ComponentOf(block)] += block.bytes;
  }
  Json json = Json::object();
  for (const auto& [component, saved] : bytes) {
    json[ComponentName(component)] = {{"bytes", saved}};
  }
  return json;
}

// Returns the tensors that a middle block saves, or its recomputed segment.
std::vector<RecordedBlock> SavedByBlock(
    const ModelConfig& model, const std::vector<RecordedBlock>& kept) {
  std::vector<RecordedBlock> saved;
  // In a recomputed segment, only the last block makes the saved tensors.
  for (int64_t layer = model.layers / 2; saved.empty() && layer < model.layers;
       ++layer) {
    std::copy_if(
        kept.begin(), kept.end(), std::back_inserter(saved),
        [layer](const auto& block) { return block.place.layer == layer; });
  }
  return saved;
}

Json TensorsJson(const std::vector<RecordedBlock>& blocks) {
  Json tensors = Json::array();
  for (const RecordedBlock& block : blocks) {
    tensors.push_back({{"operator", block.op},
                       {"component", ComponentName(ComponentOf(block))},
                       {"shape", block.shape},
                       {"dtype", block.dtype},
                       {"bytes", block.bytes}});
  }
  return tensors;
}

Json OperatorsJson(const CallsByOperator& operators) {
  Json json;
  for (const auto& [calls, count] : operators) {
    json.push_back({{"operator", calls.name},
                    {"phase", PhaseName.Or(calls.phase, "none")},
                    {"component", ComponentName.Or(calls.component, "none")},
                    {"calls", count},
                    {"flops", calls.flops},
                    {"bytes", calls.bytes}});
  }
  return json;
}

absl::Status CheckStep(const StepParams& step, const Device& device) {
  StepParams on_cpu = step;
  // tf32 needs the same bytes as fp32, but only GPUs have it.
  if (step.precision == Precision::kTf32) on_cpu.precision = Precision::kFp32;
  const std::string why = ModelStep::Unavailable(on_cpu, device);
  if (why.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("model '", step.model.name, "': ", why));
}

absl::Status TooLarge(const StepParams& step, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "model '", step.model.name, "' at batch ", step.batch, " and seq ",
      step.seq, " has ", what, "; allowed: a smaller model, batch or seq"));
}

// Answers for rank 0's step.
Json RowOf(const StepParams& step, const ModelConfig& whole,
           const Json& request, const Device& device) {
  const auto& [model, precision, mode, batch, seq] = step;
  const StepPrediction found = PredictStep(step, device);
  const AllocationTimeline& timeline = found.call.timeline;
  const std::vector<RecordedBlock> of_block = SavedByBlock(model, found.kept);
  int64_t block_bytes = 0;
  for (const RecordedBlock& block : of_block) block_bytes += block.bytes;
  const bool has_memory = request.contains("memory_bytes");
  const bool wants_batch = request.value("largest_batch", false);
  const int64_t memory_bytes = request.value("memory_bytes", int64_t{0});
  const auto largest = [&](auto size, bool is_asked) {
    return is_asked ? Json(LargestSize(size, step, device, memory_bytes))
                    : Json();
  };
  return {
      {"model", model.name},
      {"definition", FormatModel(whole)},
      {"d_model", model.d_model},
      {"d_ff", model.d_ff},
      {"layers", model.layers},
      {"heads", model.heads},
      {"kv_heads", model.key_value_heads()},
      {"vocab", model.vocab},
      {"tied_embeddings", model.tied_embeddings},
      {"attention", AttentionName(model.attention)},
      {"implementation", ImplementationName(model.implementation)},
      {"checkpoint", CheckpointingName(model.checkpointing)},
      {"precision", PrecisionName(precision)},
      {"mode", StepModeName(mode)},
      {"params", ParameterCount(model)},
      {"parameter_bytes", found.parameter_bytes},
      {"gradient_bytes", found.gradient_bytes},
      {"optimizer_bytes", found.optimizer_bytes},
      {"input_bytes", found.input_bytes},
      {"saved_bytes", found.saved_bytes},
      {"saved_bytes_per_block", block_bytes},
      {"residual_bytes", ResidualBytes(step)},
      {"logit_bytes", LogitBytes(step)},
      {"largest_tensor", LargestTensor(step, timeline)},
      {"predicted_peak_bytes", found.peak_bytes()},
      {"predicted_peak_moment", PeakText(timeline)},
      {"fits", has_memory ? Json(found.peak_bytes() <= memory_bytes) : Json()},
      // The largest that fits at this batch, up to 2^20; 0 if none.
      {"largest_seq", largest(&StepParams::seq, has_memory)},
      // Likewise at this seq.
      {"largest_batch", largest(&StepParams::batch, wants_batch)},
      {"flops", StepFlops(model, batch, seq, mode)},
      {"recomputed_flops", RecomputedFlops(model, batch, seq, mode)},
      {"bytes", StepBytes(step, found.saved_bytes)},
      {"moments", HighestPoints(timeline)},
      {"params_by_component", ByComponent(ParametersByComponent(model),
                                          &ComponentParameters::elements)},
      {"saved_by_component", SavedByComponent(found.kept)},
      {"saved_tensors_per_block", TensorsJson(of_block)},
      {"flops_by_component",
       ByComponent(FlopsByComponent(model, batch, seq, mode),
                   &ComponentFlops::flops)},
      {"adamw_flops", mode == StepMode::kTrainStep ? AdamWFlops(model) : 0},
      {"operators", OperatorsJson(found.call.operators)}};
}

}  // namespace

absl::StatusOr<Json> ModelRow(const Json& request) {
  static const absl::StatusOr<Device> device = OpenDevice("cpu");
  if (!device.ok()) return device.status();
  at::set_num_threads(1);  // the answer does not depend on the cores
  ASSIGN_OR_RETURN(const auto whole, ReadStep(request));
  const int64_t ranks = request.value("tensor_ranks", int64_t{1});
  RETURN_IF_ERROR(ValidateParts(whole.model, ranks));
  StepParams step = whole;
  step.model = PartOf(whole.model, /*rank=*/0, ranks);
  RETURN_IF_ERROR(CheckSize(step.model, step.precision));
  RETURN_IF_ERROR(CheckStep(whole, *device));
  if (request.value("check", false)) return Json::object();
  Json row;
  const absl::Status status =
      CatchToStatus([&] { row = RowOf(step, whole.model, request, *device); });
  if (absl::StrContains(status.message(), "overflow")) {
    return TooLarge(step, "too many bytes to count");
  }
  if (absl::StrContains(status.message(), kTooManyOperators)) {
    return TooLarge(step, kTooManyOperators);
  }
  RETURN_IF_ERROR(status);
  return row;
}

}  // namespace trainbench
