// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_PLANNER_PARALLEL_TEXT_H_
#define TRAINBENCH_TOOLS_PLANNER_PARALLEL_TEXT_H_

#include <string>
#include <vector>

#include "tools/planner/parallel_rows.h"

namespace trainbench {

// A table for each group under its title and constants: what, value, formula;
// then notes on how to read the numbers. Columns are at least two spaces apart,
// words within a column one.
std::string ParallelText(const std::vector<ParallelGroup>& groups);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PARALLEL_TEXT_H_
