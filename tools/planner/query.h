// SPDX-License-Identifier: MIT
// The query of tools/plan, read from its flags and validated.

#ifndef TRAINBENCH_TOOLS_PLANNER_QUERY_H_
#define TRAINBENCH_TOOLS_PLANNER_QUERY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fixtures/base/flag_parser.h"
#include "model/spec/config.h"
#include "model/spec/precision.h"
#include "model/spec/step_params.h"

namespace trainbench {

// Asks whether each model fits in a device's memory, and what one step costs.
struct ModelQuery {
  std::vector<ModelConfig> models;
  std::vector<Precision> precisions;
  std::vector<StepMode> modes;
  // Empty: as each model defines.
  std::vector<Checkpointing> checkpointing;
  int64_t batch = 4;
  int64_t seq = 512;
  int64_t tensor_ranks = 1;  // that share a model; `models` has rank 0's parts
  int64_t device_memory_bytes = 0;
  bool wants_batch = false;  // the largest that fits
  bool wants_operators = false;
};

// Values as the user gives them, in the unit of the flag of the same name.
struct PlannerFlags {
  bool help = false;
  ModelQuery query;  // only its numbers and wishes
  std::vector<ModelConfig> custom_models;
  std::string models;
  std::string precision = "fp32";
  std::string mode = "train_step";
  std::string checkpoint;  // empty: as each model defines
  double device_memory_gib = 80;
};

void AddPlannerFlags(PlannerFlags& values, FlagParser& flags);

// Validates flags. InvalidArgument or NotFound names the allowed values.
absl::StatusOr<ModelQuery> ReadModelQuery(const PlannerFlags& flags);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_QUERY_H_
