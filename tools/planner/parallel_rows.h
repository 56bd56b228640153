// SPDX-License-Identifier: MIT
// What parallel training sends, and the bounds that follow.

#ifndef TRAINBENCH_TOOLS_PLANNER_PARALLEL_ROWS_H_
#define TRAINBENCH_TOOLS_PLANNER_PARALLEL_ROWS_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/planner/parallel_query.h"

namespace trainbench {

enum class ParallelUnit { kParams, kBytes, kSeconds, kDevices, kTokens, kNone };

struct ParallelRow {
  std::string name;  // unique in its group, for programs
  std::string what;
  std::string formula;
  std::optional<double> value;  // empty: there is none, `what_not` says why
  ParallelUnit unit = ParallelUnit::kNone;
  std::string what_not = "";
};

struct ParallelGroup {
  std::string name;
  std::string title;
  std::string constants;  // "B = 8, C = 3"
  std::vector<ParallelRow> rows;
};

// all_reduce, optimizer, buckets/<link>..., bounds, memory and batch.
std::vector<ParallelGroup> ComputeParallelPlan(const ParallelQuery& query);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PARALLEL_ROWS_H_
