// SPDX-License-Identifier: MIT
// The flags of tools/plan --parallel.

#ifndef TRAINBENCH_TOOLS_PLANNER_PARALLEL_FLAGS_H_
#define TRAINBENCH_TOOLS_PLANNER_PARALLEL_FLAGS_H_

#include "absl/status/status.h"
#include "tools/planner/parallel_query.h"

namespace trainbench {

// Whether --parallel is set.
bool IsParallelPlan();

// InvalidArgument names a flag that was changed though it says nothing in this
// mode: one of --parallel without it, or the other way round.
absl::Status CheckFlagsOfMode();

ParallelFlags ReadParallelFlags();

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PARALLEL_FLAGS_H_
