// SPDX-License-Identifier: MIT

#include "tools/planner/parallel_rows.h"

#include "tools/planner/parallel_bounds.h"
#include "tools/planner/parallel_data.h"
#include "tools/planner/parallel_mesh.h"

namespace trainbench {

std::vector<ParallelGroup> ComputeParallelPlan(const ParallelQuery& query) {
  std::vector<ParallelGroup> groups = {AllReduceGroup(query),
                                       OptimizerGroup(query)};
  for (const ParallelLink& link : query.links) {
    groups.push_back(BucketGroup(query, link));
  }
  groups.push_back(BoundsGroup(query));
  groups.push_back(MemoryGroup(query));
  groups.push_back(BatchGroup(query));
  return groups;
}

}  // namespace trainbench
