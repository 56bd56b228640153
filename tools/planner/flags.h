// SPDX-License-Identifier: MIT
// The flags of the program behind tools/plan.

#ifndef TRAINBENCH_TOOLS_PLANNER_FLAGS_H_
#define TRAINBENCH_TOOLS_PLANNER_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "fixtures/base/flag_parser.h"
#include "model/spec/config.h"

namespace trainbench {

// Values as the user gives them, in the unit of the flag of the same name.
struct PlannerFlags {
  bool help = false;
  std::vector<ModelConfig> custom_models;
  std::string models;
  int64_t batch = 4;
  int64_t seq = 512;
  std::string precision = "fp32";
  std::string mode = "train_step";
  std::string checkpoint;  // empty: as each model defines
  int64_t tensor_ranks = 1;
  double device_memory_gib = 80;
  bool largest_batch = false;
  bool operators = false;
};

void AddPlannerFlags(PlannerFlags& values, FlagParser& flags);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_FLAGS_H_
