// SPDX-License-Identifier: MIT
// What tools/plan tells of a step's memory.

#ifndef TRAINBENCH_TOOLS_PLANNER_STEP_MEMORY_H_
#define TRAINBENCH_TOOLS_PLANNER_STEP_MEMORY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fixtures/device/device.h"
#include "fixtures/memory/allocation_recorder.h"
#include "model/spec/component.h"
#include "model/spec/phase.h"
#include "model/spec/step_params.h"

namespace trainbench {

// The most bytes that are alive in a phase, and the tensor that completes them,
// as in PeakText.
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

// The sums are those of StepPrediction.
struct StepMemory {
  int64_t parameter_bytes = 0;
  int64_t optimizer_bytes = 0;
  int64_t input_bytes = 0;
  int64_t gradient_bytes = 0;
  int64_t residual_bytes = 0;
  int64_t logit_bytes = 0;
  int64_t peak_bytes = 0;
  std::string peak_at;
  std::vector<HighestPoint> highest;  // of each phase, in their order
  // What the forward pass keeps for the backward pass, and of it a block in the
  // middle, or the segment that is recomputed with it. Nothing of inference.
  int64_t saved_bytes = 0;
  std::map<Component, int64_t> saved = {};
  int64_t block_bytes = 0;
  std::vector<RecordedBlock> block_tensors = {};
  LargeTensor largest;  // parameters included
};

// Of a block that no component made: it joins two.
inline Component ComponentOf(const RecordedBlock& block) {
  return block.place.component.value_or(Component::kResidual);
}

// By a dry run. c10::Error if 64 bits cannot count the bytes.
StepMemory PredictMemory(const StepParams& step, const Device& device);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_STEP_MEMORY_H_
