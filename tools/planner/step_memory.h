// SPDX-License-Identifier: MIT
// A step's memory as tools/plan reports it.

#ifndef TRAINBENCH_TOOLS_PLANNER_STEP_MEMORY_H_
#define TRAINBENCH_TOOLS_PLANNER_STEP_MEMORY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fixtures/device/device.h"
#include "fixtures/memory/allocation_recorder.h"
#include "fixtures/steps/step_prediction.h"
#include "model/spec/component.h"
#include "model/spec/phase.h"
#include "model/spec/step_params.h"

namespace trainbench {

// The most bytes that are allocated at once in a phase, and the tensor that
// reaches this peak, as in PeakText.
struct HighestPoint {
  Phase phase = Phase::kForward;
  int64_t bytes = 0;
  std::string name;
};

struct LargeTensor {
  std::string name;  // "aten::bmm in forward", or "parameter"
  Component component = Component::kEmbedding;
  int64_t bytes = 0;
};

struct StepMemory {
  StepPrediction totals;  // without its blocks, of which there may be thousands
  std::string peak_at;
  std::vector<HighestPoint> highest;  // one per phase, in their order
  // Tensors saved for the backward pass: all, and a middle block's, or its
  // recomputed segment's. None for inference.
  std::map<Component, int64_t> saved = {};
  int64_t block_bytes = 0;
  std::vector<RecordedBlock> block_tensors = {};
  LargeTensor largest;  // parameters included
};

// Returns kResidual for a block that no component made: it joins two.
inline Component ComponentOf(const RecordedBlock& block) {
  return block.place.component.value_or(Component::kResidual);
}

// Predicts by a dry run. Throws c10::Error if the bytes overflow 64 bits.
StepMemory PredictMemory(const StepParams& step, const Device& device);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_STEP_MEMORY_H_
