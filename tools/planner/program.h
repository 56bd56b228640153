// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_PLANNER_PROGRAM_H_
#define TRAINBENCH_TOOLS_PLANNER_PROGRAM_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace trainbench {

// Predicts, without measuring anything, whether models fit in memory and what
// a step of them costs; with --mesh plays one rank of a job on a null GPU, and
// computes what its step takes at least. Prints JSON, or with --help its flags.
// `args` are those after the program's name. Returns the exit status: 0; 2 for
// wrong usage; 1 without a null GPU, or if `out` cannot be written or the
// rehearsal fails. `err` then says why in one line.
int RunPlanner(const std::vector<std::string>& args, std::ostream& out,
               std::ostream& err);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PROGRAM_H_
