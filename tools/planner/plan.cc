// SPDX-License-Identifier: MIT

#include "tools/planner/plan.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "fixtures/device/device.h"
#include "fixtures/memory/allocation_summary.h"
#include "fixtures/prediction/dry_call.h"
#include "fixtures/ranks/errors.h"
#include "fixtures/steps/model_step.h"
#include "fixtures/steps/step_prediction.h"
#include "model/accounting/parameters.h"
#include "model/spec/not_allowed.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

// Building more layers takes too long even in a dry run.
constexpr int64_t kMostLayers = 1024;
constexpr int64_t kMostParameterBytes = int64_t{1} << 50;

std::vector<HighestPoint> HighestPoints(const AllocationTimeline& timeline) {
  std::vector<HighestPoint> points;
  int64_t live_bytes = timeline.live_before;
  for (const AllocationEvent& event : timeline.events) {
    if (event.phase &&
        (points.empty() || points.back().phase != *event.phase)) {
      points.push_back(
          {*event.phase, live_bytes,
           absl::StrCat("the beginning of ", PhaseName(*event.phase))});
    }
    live_bytes = event.live_bytes;
    if (points.empty() || live_bytes <= points.back().bytes) continue;
    points.back().bytes = live_bytes;
    points.back().name = MakerAndPlaceText(timeline.blocks[event.block]);
  }
  return points;
}

LargeTensor LargestParameter(const StepParams& step) {
  const ModelConfig& model = step.model;
  const int64_t width =
      ParameterBytes(model, step.precision) / ParameterCount(model);
  LargeTensor largest;
  for (const auto& [component, rows] :
       {std::pair{Component::kEmbedding, std::max(model.vocab, model.context)},
        {Component::kProjections, model.d_attention()},
        {Component::kFfn, model.d_ff}}) {
    const int64_t bytes = width * rows * model.d_model;
    if (bytes > largest.bytes) largest = {"parameter", component, bytes};
  }
  return largest;
}

LargeTensor LargestTensor(const StepParams& step,
                          const AllocationTimeline& timeline) {
  LargeTensor largest = LargestParameter(step);
  for (const AllocationGroup& group : LargestAllocations(timeline, 1)) {
    const RecordedBlock& block = group.like;
    if (block.bytes <= largest.bytes) continue;
    largest = {MakerText(block), ComponentOf(block), block.bytes};
  }
  return largest;
}

void AddSaved(const StepParams& step, const std::vector<RecordedBlock>& kept,
              ModelRow& row) {
  for (const RecordedBlock& block : kept) {
    row.saved[ComponentOf(block)] += block.bytes;
  }
  // In a recomputed segment, only the last block makes the saved tensors.
  for (int64_t layer = step.model.layers / 2;
       row.block_tensors.empty() && layer < step.model.layers; ++layer) {
    std::copy_if(
        kept.begin(), kept.end(), std::back_inserter(row.block_tensors),
        [layer](const auto& block) { return block.place.layer == layer; });
  }
  for (const RecordedBlock& block : row.block_tensors) {
    row.block_bytes += block.bytes;
  }
}

// Throws c10::Error if the bytes overflow 64 bits.
ModelRow PlanModel(const StepParams& step, const ModelQuery& query,
                   const Device& device) {
  ModelRow row;
  row.step = step;
  row.totals = PredictStep(step, device);
  const auto kept = std::exchange(row.totals.kept, {});
  const auto timeline = std::exchange(row.totals.call.timeline, {});
  row.peak_at = PeakText(timeline);
  row.highest = HighestPoints(timeline);
  row.largest = LargestTensor(step, timeline);
  AddSaved(step, kept, row);
  const auto largest = [&](auto size) {
    return LargestSize(size, step, device, query.device_memory_bytes);
  };
  row.largest_seq = largest(&StepParams::seq);
  if (query.wants_batch) row.largest_batch = largest(&StepParams::batch);
  return row;
}

absl::Status TooLarge(const StepParams& step) {
  return absl::InvalidArgumentError(absl::StrCat(
      "model '", step.model.name, "' at batch ", step.batch, " and seq ",
      step.seq,
      " has too many bytes to count; allowed: a smaller model, batch or seq"));
}

absl::Status CheckStep(const StepParams& step, const Device& device) {
  const ModelConfig& model = step.model;
  if (model.layers > kMostLayers) {
    return NotAllowed("layers", model.layers,
                      absl::StrCat("1 to ", kMostLayers));
  }
  if (ParameterBytes(model, step.precision) > kMostParameterBytes) {
    return TooLarge(step);
  }
  StepParams on_cpu = step;
  // tf32 needs the same bytes as fp32, but only GPUs have it.
  if (step.precision == Precision::kTf32) on_cpu.precision = Precision::kFp32;
  const std::string why = ModelStep::Unavailable(on_cpu, device);
  if (why.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("model '", model.name, "': ", why));
}

absl::Status AddRow(const StepParams& step, const ModelQuery& query,
                    const Device& device, std::vector<ModelRow>& rows) {
  const absl::Status status =
      CatchToStatus([&] { rows.push_back(PlanModel(step, query, device)); });
  return absl::StrContains(status.message(), "overflow") ? TooLarge(step)
                                                         : status;
}

// Returns all models with each checkpointing; the models vary fastest.
std::vector<ModelConfig> ModelsOf(const ModelQuery& query) {
  if (query.checkpointing.empty()) return query.models;
  std::vector<ModelConfig> models;
  for (const Checkpointing& checkpointing : query.checkpointing) {
    for (ModelConfig model : query.models) {
      model.checkpointing = checkpointing;
      models.push_back(std::move(model));
    }
  }
  return models;
}

std::vector<StepParams> StepsOf(const ModelQuery& query) {
  std::vector<StepParams> steps;
  const std::vector<ModelConfig> models = ModelsOf(query);
  for (const Precision precision : query.precisions) {
    for (const StepMode mode : query.modes) {
      for (const ModelConfig& model : models) {
        steps.push_back({model, precision, mode, query.batch, query.seq});
      }
    }
  }
  return steps;
}

}  // namespace

absl::StatusOr<std::vector<ModelRow>> PlanModels(const ModelQuery& query) {
  ASSIGN_OR_RETURN(const auto device, OpenDevice("cpu"));
  at::set_num_threads(1);  // the answer is the same on any machine
  const std::vector<StepParams> steps = StepsOf(query);
  // All steps are checked first, so that an error comes before any long plan.
  for (const StepParams& step : steps) {
    RETURN_IF_ERROR(CheckStep(step, device));
  }
  std::vector<ModelRow> rows;
  for (const StepParams& step : steps) {
    RETURN_IF_ERROR(AddRow(step, query, device, rows));
  }
  return rows;
}

}  // namespace trainbench
