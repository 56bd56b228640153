// SPDX-License-Identifier: MIT
// The answer of tools/plan.

#ifndef TRAINBENCH_TOOLS_PLANNER_PLAN_H_
#define TRAINBENCH_TOOLS_PLANNER_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fixtures/prediction/dry_call.h"
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
  double flops = 0;  // of the matrix products
  std::vector<ComponentFlops> component_flops;
  double recomputed_flops = 0;  // beside them
  double adamw_flops = 0;       // beside them; 0 without an update
  double bytes = 0;             // the least traffic with device memory
  CallsByOperator operators;    // if somebody asks
  bool fits = false;
  int64_t largest_seq = 0;    // that fits at this batch, at most 2^20; or 0
  int64_t largest_batch = 0;  // likewise at this seq; 0 if nobody asks
};

// One row per precision, mode, checkpointing and model; the model varies
// fastest.
// InvalidArgument if a step has too many bytes to count, too many layers or an
// operator that a CPU does not have.
absl::StatusOr<std::vector<ModelRow>> PlanModels(const ModelQuery& query);

// {"query": {...}, "rows": [{...}, ...]}, bytes and FLOPs. Keys shared with a
// benchmark row have the names used there: params, flops, bytes,
// predicted_peak_bytes.
std::string ModelJson(const ModelQuery& query,
                      const std::vector<ModelRow>& rows);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PLAN_H_
