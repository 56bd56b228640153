// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_PLANNER_PROGRAM_H_
#define TRAINBENCH_TOOLS_PLANNER_PROGRAM_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace trainbench {

// Predicts, without measuring anything, whether a model fits in memory and the
// cost of one step; with --parallel, the traffic of parallel training and its
// bounds. `args` are those after the program's name. Returns the exit status:
// 0; 2 for wrong usage, which `err` names in one line; 1 if `out` cannot be
// written.
int RunPlanner(const std::vector<std::string>& args, std::ostream& out,
               std::ostream& err);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PROGRAM_H_
