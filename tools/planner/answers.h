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

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_ANSWERS_H_
