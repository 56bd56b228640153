// SPDX-License-Identifier: MIT

#include "tools/planner/step_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fixtures/memory/allocation_summary.h"
#include "fixtures/prediction/dry_call.h"
#include "fixtures/steps/step_prediction.h"
#include "model/accounting/parameters.h"

namespace trainbench {
namespace {

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

void AddSaved(const StepParams& step, const StepPrediction& prediction,
              StepMemory& memory) {
  memory.saved_bytes = prediction.saved_bytes;
  for (const RecordedBlock& block : prediction.kept) {
    memory.saved[ComponentOf(block)] += block.bytes;
  }
  // In a recomputed segment, only the last block makes the saved tensors.
  for (int64_t layer = step.model.layers / 2;
       memory.block_tensors.empty() && layer < step.model.layers; ++layer) {
    std::copy_if(
        prediction.kept.begin(), prediction.kept.end(),
        std::back_inserter(memory.block_tensors),
        [layer](const auto& block) { return block.place.layer == layer; });
  }
  for (const RecordedBlock& block : memory.block_tensors) {
    memory.block_bytes += block.bytes;
  }
}

}  // namespace

StepMemory PredictMemory(const StepParams& step, const Device& device) {
  const StepPrediction prediction = PredictStep(step, device);
  const AllocationTimeline& timeline = prediction.call.timeline;
  StepMemory memory = {.parameter_bytes = prediction.parameter_bytes,
                       .optimizer_bytes = prediction.optimizer_bytes,
                       .input_bytes = prediction.input_bytes,
                       .gradient_bytes = prediction.gradient_bytes,
                       .residual_bytes = prediction.residual_bytes,
                       .logit_bytes = prediction.logit_bytes,
                       .peak_bytes = prediction.peak_bytes(),
                       .peak_at = PeakText(timeline),
                       .highest = HighestPoints(timeline),
                       .largest = LargestTensor(step, timeline)};
  AddSaved(step, prediction, memory);
  return memory;
}

}  // namespace trainbench
