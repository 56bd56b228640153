// SPDX-License-Identifier: MIT
// What one job costs, in closed form.

#ifndef TRAINBENCH_TOOLS_PLANNER_ROWS_H_
#define TRAINBENCH_TOOLS_PLANNER_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "model/accounting/memory.h"
#include "model/spec/config.h"
#include "model/spec/precision.h"
#include "model/spec/step_mode.h"
#include "tools/planner/query.h"

namespace trainbench {

struct PlanRow {
  ModelConfig model;
  Precision precision = Precision::kFp32;
  StepMode mode = StepMode::kTrainStep;
  int64_t params = 0;
  MemoryEstimate memory;
  int64_t saved_bytes_per_block = 0;  // 0 for inference
  double flops = 0;                   // of the matrix products of one step
  double bytes = 0;                   // moved by one step, at the least
  bool fits = false;
  int64_t largest_seq = 0;  // that fits at this batch, at most 2^20; or 0
};

// One row per precision, mode and model, the model varying fastest.
// InvalidArgument if a job is so large that its bytes cannot be counted.
absl::StatusOr<std::vector<PlanRow>> ComputePlan(const PlanQuery& query);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_ROWS_H_
