// SPDX-License-Identifier: MIT
// The answers of tools/plan as text for a reader or JSON for a program.
//
// Text: columns are at least two spaces apart, words within a column one. Notes
// at the end explain how to read the numbers. JSON: {"query": {...}, "rows":
// [{...}, ...]}, with raw numbers in bytes and seconds.

#ifndef TRAINBENCH_TOOLS_PLANNER_PRINT_H_
#define TRAINBENCH_TOOLS_PLANNER_PRINT_H_

#include <string>
#include <vector>

#include "tools/planner/plan.h"
#include "tools/planner/query.h"

namespace trainbench {

// One table per precision and mode. `rows` is the answer to `query`.
std::string ModelText(const ModelQuery& query,
                      const std::vector<ModelRow>& rows);

// What checkpointing buys and costs; "" without --checkpoint.
std::string CheckpointTables(const ModelQuery& query,
                             const std::vector<ModelRow>& rows);

// Keys shared with a benchmark row have the names used there: params, flops,
// bytes, predicted_peak_bytes.
std::string ModelJson(const ModelQuery& query,
                      const std::vector<ModelRow>& rows);

// One table per group: what, value and formula.
std::string ParallelText(const std::vector<ParallelGroup>& groups);

// "query" repeats the flags. A row without a value has null and a "reason".
std::string ParallelJson(const ParallelQuery& query,
                         const std::vector<ParallelGroup>& groups);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PRINT_H_
