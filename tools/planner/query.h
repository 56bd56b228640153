// SPDX-License-Identifier: MIT
// What the user asks of tools/plan, checked.

#ifndef TRAINBENCH_TOOLS_PLANNER_QUERY_H_
#define TRAINBENCH_TOOLS_PLANNER_QUERY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/spec/config.h"
#include "model/spec/precision.h"
#include "model/spec/step_mode.h"

namespace trainbench {

// The values of the flags, as typed.
struct PlanFlags {
  std::string models;     // names, by comma; empty: all
  std::string model;      // definitions of further models, by semicolon
  std::string precision;  // names, by comma
  std::string mode;       // names, by comma
  int64_t batch = 0;
  int64_t seq = 0;
  double device_memory_gib = 0;
};

struct PlanQuery {
  std::vector<ModelConfig> models;
  std::vector<Precision> precisions;
  std::vector<StepMode> modes;
  int64_t batch = 1;
  int64_t seq = 1;
  int64_t device_memory_bytes = 0;
};

// InvalidArgument or NotFound name the value and what is allowed.
absl::StatusOr<PlanQuery> ParsePlanQuery(const PlanFlags& flags);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_QUERY_H_
