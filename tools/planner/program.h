// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_PLANNER_PROGRAM_H_
#define TRAINBENCH_TOOLS_PLANNER_PROGRAM_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace trainbench {

// Predicts, without measuring anything, whether models fit in memory and what
// a step of them costs; with --mesh, rehearses one rank of a job on a null GPU:
// its memory, kernels and collectives. Prints JSON, or with --help its flags.
// `args` excludes the program's name. Returns the exit status: 0; 2 for wrong
// usage; 1 without a null GPU, if `out` cannot be written or if a dry run or
// the rehearsal fails. An error writes one line with the reason to `err`.
int RunPlanner(const std::vector<std::string>& args, std::ostream& out,
               std::ostream& err);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PROGRAM_H_
