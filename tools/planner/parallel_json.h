// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_PLANNER_PARALLEL_JSON_H_
#define TRAINBENCH_TOOLS_PLANNER_PARALLEL_JSON_H_

#include <string>
#include <vector>

#include "tools/planner/parallel_query.h"
#include "tools/planner/parallel_rows.h"

namespace trainbench {

// {"query": {flag: value, ...}, "rows": [{"group", "name", "what", "formula",
// "value", "unit"}, ...]}, with raw numbers in bytes and seconds. Where there
// is no value it is null, and "reason" says why.
std::string ParallelJson(const ParallelFlags& flags,
                         const std::vector<ParallelGroup>& groups);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PARALLEL_JSON_H_
