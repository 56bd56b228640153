// SPDX-License-Identifier: MIT
// The answer of tools/plan for models on one device.

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
// step has too many bytes to count or an operator that a CPU does not have.
absl::StatusOr<nlohmann::ordered_json> PlanModels(const Query& query);

// Returns what the step needs, in bytes and FLOPs: by dry runs, its peak, its
// tensors and the largest sizes that fit; in closed form, flops of matrix
// products, further recomputed_flops and adamw_flops, and the least bytes of
// traffic with device memory. Keys that benchmark rows have, too, have the same
// names. Throws c10::Error if the bytes overflow 64 bits.
nlohmann::ordered_json ModelRow(const StepParams& step, const Query& query,
                                const Device& device);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PLAN_H_
