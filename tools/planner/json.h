// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_PLANNER_JSON_H_
#define TRAINBENCH_TOOLS_PLANNER_JSON_H_

#include <string>
#include <vector>

#include "tools/planner/query.h"
#include "tools/planner/rows.h"

namespace trainbench {

// {"query": {...}, "rows": [{...}, ...]}, all sizes in bytes. What a benchmark
// row has too is named as there: params, flops, bytes, predicted_peak_bytes.
std::string PlanJson(const PlanQuery& query, const std::vector<PlanRow>& rows);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_JSON_H_
