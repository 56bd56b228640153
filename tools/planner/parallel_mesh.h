// SPDX-License-Identifier: MIT
// The rows on a model too large for one device.

#ifndef TRAINBENCH_TOOLS_PLANNER_PARALLEL_MESH_H_
#define TRAINBENCH_TOOLS_PLANNER_PARALLEL_MESH_H_

#include "tools/planner/parallel_query.h"
#include "tools/planner/parallel_rows.h"

namespace trainbench {

// What its state and activations need, and of how many devices.
ParallelGroup MemoryGroup(const ParallelQuery& query);

// From which batch its forward pass is compute-bound, and what lowers that.
ParallelGroup BatchGroup(const ParallelQuery& query);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PARALLEL_MESH_H_
