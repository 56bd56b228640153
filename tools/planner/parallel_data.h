// SPDX-License-Identifier: MIT
// The rows on data parallelism.

#ifndef TRAINBENCH_TOOLS_PLANNER_PARALLEL_DATA_H_
#define TRAINBENCH_TOOLS_PLANNER_PARALLEL_DATA_H_

#include "tools/planner/parallel_query.h"
#include "tools/planner/parallel_rows.h"

namespace trainbench {

// What the two rings send and how long that takes.
ParallelGroup AllReduceGroup(const ParallelQuery& query);

// What a rank sends in a step, by where the optimizer's state is.
ParallelGroup OptimizerGroup(const ParallelQuery& query);

// The best bucket on one link.
ParallelGroup BucketGroup(const ParallelQuery& query, const ParallelLink& link);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PARALLEL_DATA_H_
