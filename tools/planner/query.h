// SPDX-License-Identifier: MIT
// The query of tools/plan, read from its flags and validated.

#ifndef TRAINBENCH_TOOLS_PLANNER_QUERY_H_
#define TRAINBENCH_TOOLS_PLANNER_QUERY_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "model/spec/config.h"
#include "model/spec/precision.h"
#include "model/spec/step_mode.h"
#include "tools/planner/flags.h"

namespace trainbench {

// Asks whether each model fits in a device's memory, and what one step costs.
struct ModelQuery {
  std::vector<ModelConfig> models;
  std::vector<Precision> precisions;
  std::vector<StepMode> modes;
  // Empty: as each model defines.
  std::vector<Checkpointing> checkpointing;
  int64_t batch = 1;
  int64_t seq = 1;
  int64_t tensor_ranks = 1;  // share each model; `models` has rank 0's parts
  int64_t device_memory_bytes = 0;
  bool wants_batch = false;  // the largest that fits
  bool wants_operators = false;
};

// InvalidArgument or NotFound names the value and the allowed ones.
absl::StatusOr<ModelQuery> ReadModelQuery(const PlannerFlags& flags);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_QUERY_H_
