// SPDX-License-Identifier: MIT
// What is said of the meshes that a query asks for.

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_ROWS_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_ROWS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tools/planner/mesh/mesh_job.h"
#include "tools/planner/mesh/mesh_time.h"
#include "tools/planner/mesh/query.h"
#include "tools/planner/mesh/rank_memory.h"
#include "tools/planner/mesh/rehearsal.h"

namespace trainbench {

struct MeshRow {
  MeshJob job;
  bool is_valid = false;  // else only `why_not` is there
  std::string why_not;    // "" if it fits
  // At least, if `memory` is not known.
  int64_t needed_bytes = std::numeric_limits<int64_t>::max();
  // None, and nothing below, if shards alone are too large, or no dry run ends.
  std::optional<RankMemory> memory;
  MeshTraffic traffic;
  MeshFlops flops;
  MeshTime time;
  int64_t largest_batch = 0;  // that fits
  std::optional<int64_t> compute_bound_batch;
  std::optional<MeshRehearsal> rehearsal;
};

// Of all ranks together.
double TokensPerSecond(const MeshRow& row);

// Predicted, where a rank may take so many bytes: the mesh of the query; all
// meshes of so many ranks; or the best of each number of ranks. Those that fit
// come first, the one that trains most tokens per second at their head, then
// those that need least; numbers of ranks stay in their order.
std::vector<MeshRow> RowsOf(const MeshQuery& query, const Device& device,
                            int64_t budget_bytes);

// Rehearses the first row, and if memory ends those after it that should fit,
// until one does; it is then the first. What was rehearsed decides whether a
// mesh fits.
void RehearseBest(const Device& device, int64_t budget_bytes,
                  std::vector<MeshRow>& rows);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_ROWS_H_
