// SPDX-License-Identifier: MIT
// The answer of trainbench_plan for ranks of meshes.

#ifndef TRAINBENCH_TOOLS_PLANNER_PLAN_H_
#define TRAINBENCH_TOOLS_PLANNER_PLAN_H_

#include <nlohmann/json.hpp>

#include "fixtures/device/device.h"
#include "tools/planner/query.h"

namespace trainbench {

// Returns the answer for GPUs like `device`, in bytes and FLOPs:
//
//   query: model, batch, seq, precision, ...
//   device, free_bytes
//   rows, for each mesh with each checkpointing: [{mesh: {name, data, fsdp,
//     tensor, ranks}, batch, checkpoint, fits, why_not, needed_bytes,
//     predicted: {peak_bytes, ..., collectives}, steps, rehearsed}, ...]
//
// `steps` is the work of this batch and of one sequence more, from which the
// work of any batch follows, because it grows linearly: {batch, work: {PHASE:
// [{flops, bytes} of each component, ...], ...}, forward and backward:
// CollectivesJson}.
//
// If the ranks cannot share the model, all is null except `mesh`, `fits` and
// `why_not`. If shards alone are too large, or a dry run fails, `predicted` and
// `steps` are null; `needed_bytes` is then a lower bound, or null. A query that
// rehearses has `rehearsed` instead, and the rehearsal decides whether a mesh
// fits.
nlohmann::ordered_json PlanMeshes(const Query& query, const Device& device);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PLAN_H_
