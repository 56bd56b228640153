// SPDX-License-Identifier: MIT
// The answer of tools/plan.

#ifndef TRAINBENCH_TOOLS_PLANNER_PLAN_H_
#define TRAINBENCH_TOOLS_PLANNER_PLAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fixtures/memory/allocation_recorder.h"
#include "fixtures/steps/step_prediction.h"
#include "model/spec/component.h"
#include "model/spec/phase.h"
#include "model/spec/step_params.h"
#include "tools/planner/query.h"

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

// Returns kResidual for a block that no component made: it joins two.
inline Component ComponentOf(const RecordedBlock& block) {
  return block.place.component.value_or(Component::kResidual);
}

// The results of dry runs of one step of one model.
struct ModelRow {
  StepParams step;
  StepPrediction totals;  // without its blocks, of which there may be thousands
  std::string peak_at;
  std::vector<HighestPoint> highest;  // one per phase, in their order
  // Tensors saved for the backward pass: all, and a middle block's, or its
  // recomputed segment's. None for inference.
  std::map<Component, int64_t> saved = {};
  int64_t block_bytes = 0;
  std::vector<RecordedBlock> block_tensors = {};
  LargeTensor largest;        // parameters included
  int64_t largest_seq = 0;    // that fits at this batch, up to 2^20; 0 if none
  int64_t largest_batch = 0;  // likewise at this seq; 0 unless requested
};

// Returns one row per precision, mode, checkpointing and model; the model
// varies fastest. InvalidArgument if a step has too many bytes to count, too
// many layers or an operator that a CPU does not have.
absl::StatusOr<std::vector<ModelRow>> PlanModels(const ModelQuery& query);

// Returns {"query": {...}, "rows": [{...}, ...]} in bytes and FLOPs, and adds
// closed forms to the rows: flops of matrix products, further recomputed_flops
// and adamw_flops, the least bytes of traffic with device memory. Keys that
// benchmark rows have, too, have the same names.
std::string ModelJson(const ModelQuery& query,
                      const std::vector<ModelRow>& rows);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PLAN_H_
