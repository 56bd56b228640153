// SPDX-License-Identifier: MIT
// The answer of tools/plan.

#ifndef TRAINBENCH_TOOLS_PLANNER_PLAN_H_
#define TRAINBENCH_TOOLS_PLANNER_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/accounting/flops.h"
#include "model/accounting/parameters.h"
#include "model/spec/step_params.h"
#include "tools/planner/query.h"
#include "tools/planner/step_memory.h"

namespace trainbench {

// The cost of one step of one model.
struct ModelRow {
  StepParams step;
  int64_t params = 0;
  std::vector<ComponentParameters> parameters;
  StepMemory memory;
  double flops = 0;  // of matrix products
  std::vector<ComponentFlops> component_flops;
  double recomputed_flops = 0;  // in addition to flops
  double adamw_flops = 0;       // in addition to flops; 0 without an update
  double bytes = 0;             // least traffic with device memory
  bool fits = false;
  int64_t largest_seq = 0;    // fits at this batch, up to 2^20; 0 if none does
  int64_t largest_batch = 0;  // likewise at this seq; 0 unless requested
};

// Returns one row per precision, mode, checkpointing and model; the model
// varies fastest. InvalidArgument if a step has too many bytes to count, too
// many layers or an operator that a CPU does not have.
absl::StatusOr<std::vector<ModelRow>> PlanModels(const ModelQuery& query);

// Returns {"query": {...}, "rows": [{...}, ...]} in bytes and FLOPs. Keys that
// benchmark rows have, too, have the same names: params, flops, bytes,
// predicted_peak_bytes.
std::string ModelJson(const ModelQuery& query,
                      const std::vector<ModelRow>& rows);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PLAN_H_
