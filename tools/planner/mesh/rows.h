// SPDX-License-Identifier: MIT
// The rows of the meshes that a query asks for, and the answer as JSON.

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_ROWS_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_ROWS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tools/planner/mesh/mesh_job.h"
#include "tools/planner/mesh/mesh_rank.h"
#include "tools/planner/mesh/mesh_time.h"
#include "tools/planner/mesh/query.h"
#include "tools/planner/mesh/rank_memory.h"

namespace trainbench {

struct MeshRow {
  MeshJob job;
  bool is_valid = false;  // if not, only `job.mesh` and `why_not` are set
  std::string why_not;    // "" if it fits
  // A lower bound if `memory` is unknown.
  int64_t needed_bytes = std::numeric_limits<int64_t>::max();
  // Unset, with all below, if shards alone are too large or a dry run fails.
  std::optional<RankMemory> memory;
  MeshTime time;
  int64_t largest_batch = 0;  // that fits
  std::optional<int64_t> compute_bound_batch;
  std::optional<MeshRehearsal> rehearsal;
};

// Returns the tokens per second of all ranks together.
double TokensPerSecond(const MeshRow& row);

// Predicts, for ranks that may use `budget_bytes`: the query's mesh; all meshes
// of its number of ranks; or the best mesh of each of several numbers, in their
// order. Meshes that fit come first, most tokens per second at their head; the
// others follow, least needed bytes first.
std::vector<MeshRow> RowsOf(const MeshQuery& query, const Device& device,
                            int64_t budget_bytes);

// Rehearses the first row and, if it runs out of memory, the next ones that
// should fit, until one does; that one becomes the first. The rehearsal decides
// whether a mesh fits.
void RehearseBest(const Device& device, int64_t budget_bytes,
                  std::vector<MeshRow>& rows);

// Returns the answer, in bytes, microseconds and FLOPs:
//
//   query: model, batch, seq, precision, ..., links, device_tflops
//   device, free_bytes
//   overlap: a sentence that says what `computed` assumes to overlap
//   rows: [{mesh: {name, data, fsdp, tensor, ranks}, batch, checkpoint, fits,
//     why_not, predicted: {peak_bytes, peak_at, ..., collectives}, computed:
//     {...}, rehearsed: {...}}, ...]
// If the ranks cannot share the model, all is null except `mesh`, `fits` and
// `why_not`. If shards alone are too large, or a dry run fails, `predicted` and
// all after it are null. `rehearsed` is null unless the mesh was rehearsed.
std::string MeshDocument(const MeshQuery& query, const Device& device,
                         int64_t free_bytes, const std::vector<MeshRow>& rows);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_ROWS_H_
