// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_PLANNER_PARALLEL_BOUNDS_H_
#define TRAINBENCH_TOOLS_PLANNER_PARALLEL_BOUNDS_H_

#include "tools/planner/parallel_query.h"
#include "tools/planner/parallel_rows.h"

namespace trainbench {

// On how many devices a layer is compute-bound, by how it is split.
ParallelGroup BoundsGroup(const ParallelQuery& query);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PARALLEL_BOUNDS_H_
