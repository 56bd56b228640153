// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_PLAN_PARALLEL_BOUNDS_H_
#define TRAINBENCH_TOOLS_PLAN_PARALLEL_BOUNDS_H_

#include "tools/plan_parallel_query.h"
#include "tools/plan_parallel_rows.h"

namespace trainbench {

// On how many devices a layer is compute-bound, by how it is split.
ParallelGroup BoundsGroup(const ParallelQuery& query);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLAN_PARALLEL_BOUNDS_H_
