// SPDX-License-Identifier: MIT

#include "tools/planner/step_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fixtures/memory/allocation_summary.h"
#include "fixtures/prediction/dry_call.h"
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

void AddSaved(const StepParams& step, const std::vector<RecordedBlock>& kept,
              StepMemory& memory) {
  for (const RecordedBlock& block : kept) {
    memory.saved[ComponentOf(block)] += block.bytes;
  }
  // In a recomputed segment, only the last block makes the saved tensors.
  for (int64_t layer = step.model.layers / 2;
       memory.block_tensors.empty() && layer < step.model.layers; ++layer) {
    std::copy_if(
        kept.begin(), kept.end(), std::back_inserter(memory.block_tensors),
        [layer](const auto& block) { return block.place.layer == layer; });
  }
  for (const RecordedBlock& block : memory.block_tensors) {
    memory.block_bytes += block.bytes;
  }
}

}  // namespace

StepMemory PredictMemory(const StepParams& step, const Device& device) {
  StepMemory memory;
  memory.totals = PredictStep(step, device);
  const auto kept = std::exchange(memory.totals.kept, {});
  const auto timeline = std::exchange(memory.totals.call.timeline, {});
  memory.peak_at = PeakText(timeline);
  memory.highest = HighestPoints(timeline);
  memory.largest = LargestTensor(step, timeline);
  AddSaved(step, kept, memory);
  return memory;
}

}  // namespace trainbench
