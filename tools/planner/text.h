// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_PLANNER_TEXT_H_
#define TRAINBENCH_TOOLS_PLANNER_TEXT_H_

#include <string>
#include <vector>

#include "tools/planner/query.h"
#include "tools/planner/rows.h"

namespace trainbench {

// The rows as a table for each precision and mode, between a line that says
// what was asked and notes on how to read the numbers. Columns are at least two
// spaces apart, words within a column one. `rows` are those of `query`.
std::string PlanText(const PlanQuery& query, const std::vector<PlanRow>& rows);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_TEXT_H_
