// SPDX-License-Identifier: MIT
// The answers of trainbench_plan, for models on one device and for ranks of
// meshes.

#ifndef TRAINBENCH_TOOLS_PLANNER_PLAN_H_
#define TRAINBENCH_TOOLS_PLANNER_PLAN_H_

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "fixtures/device/device.h"
#include "model/spec/step_params.h"
#include "tools/planner/query.h"

namespace trainbench {

// Returns {query: {...}, rows: [ModelRow, ...]} with one row per precision,
// mode, checkpointing and model; the model varies fastest. InvalidArgument if a
// step has too many bytes to count, too many operators for a dry run, or an
// operator that a CPU does not have.
absl::StatusOr<nlohmann::ordered_json> PlanModels(const Query& query);

// Returns what rank 0's part of the step needs, in bytes and FLOPs: by dry
// runs, its peak, its tensors and the largest sizes that fit; in closed form,
// flops of matrix products, further recomputed_flops and adamw_flops, and the
// least bytes of traffic with device memory. `definition` is of the whole
// model. Keys that benchmark rows have, too, have the same names. Throws
// c10::Error if the bytes overflow 64 bits, or for kTooManyOperators.
nlohmann::ordered_json ModelRow(const StepParams& whole, const Query& query,
                                const Device& device);

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
