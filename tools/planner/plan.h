// SPDX-License-Identifier: MIT
// The answer of tools/plan.

#ifndef TRAINBENCH_TOOLS_PLANNER_PLAN_H_
#define TRAINBENCH_TOOLS_PLANNER_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/spec/step_params.h"
#include "tools/planner/query.h"
#include "tools/planner/step_memory.h"

namespace trainbench {

// The results of dry runs of one step of one model.
struct ModelRow {
  StepParams step;
  StepMemory memory;
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
