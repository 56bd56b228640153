// SPDX-License-Identifier: MIT
// The answers of trainbench_plan, for a model on one device and for ranks of
// meshes. InvalidArgument or NotFound names a value of the request and what is
// allowed; another error says what failed.

#ifndef TRAINBENCH_TOOLS_PLANNER_ANSWERS_H_
#define TRAINBENCH_TOOLS_PLANNER_ANSWERS_H_

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"

namespace trainbench {

// A request has, besides the keys of request.h:
//
//   tensor_ranks: ranks that share the model; the row is of rank 0's part
//   memory_bytes: of the device; if missing, nothing is compared with it
//   largest_batch: also search for it
//   check: answer {} if a row is possible
//
// Returns what the step needs, in bytes and FLOPs: by dry runs, its peak, its
// tensors and the largest sizes that fit; in closed form, flops of matrix
// products, further recomputed_flops and adamw_flops, and the least bytes of
// traffic with device memory. `definition` is of the whole model. Keys that
// benchmark rows have, too, have the same names. InvalidArgument also for a
// step with too many bytes to count, or too many operators for a dry run, or an
// operator that a CPU does not have.
absl::StatusOr<nlohmann::ordered_json> ModelRow(
    const nlohmann::ordered_json& request);

// On a null GPU. A request has, besides the keys of request.h except
// `checkpoint`:
//
//   ranks: [{data, fsdp, tensor, checkpoint}, ...]: each is a row; a missing
//     checkpoint is the model's
//   last_rank: the rank of a row is the last one of its mesh, not the first
//   global_batch: divided among the batches; if 0, each has `batch`
//   reshard, prefetch: as in FullSharding
//   spare_bytes: must stay free on each GPU
//   searches: a mesh that cannot share the model is no error; if its shards
//     alone are too large, it is not tried
//   largest_batch: also search for it, and dry-run each rank that does not fit
//     by itself
//   rehearse: the ranks, and predict nothing
//
// Returns, in bytes and FLOPs:
//
//   device, free_bytes
//   model: {model, parameters, implementation, attention, checkpoint}
//   rows: [{batch, checkpoint, fits, why_not, needed_bytes, predicted:
//     {peak_bytes, ..., collectives}, steps, rehearsed}, ...]
//
// `steps` is the work of this batch and of one sequence more, from which the
// work of any batch follows, because it grows linearly: {batch, work: {PHASE:
// [{flops, bytes} of each component, ...], ...}, forward and backward:
// CollectivesJson}.
//
// If the ranks cannot share the model, all is null except `fits` and `why_not`.
// If shards alone are too large, or a dry run fails, `predicted` and `steps`
// are null; `needed_bytes` is then a lower bound, or null. A request that
// rehearses has `rehearsed` instead, and the rehearsal decides whether a mesh
// fits.
absl::StatusOr<nlohmann::ordered_json> MeshRows(
    const nlohmann::ordered_json& request);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_ANSWERS_H_
