// SPDX-License-Identifier: MIT
// Links between ranks, as the user of a tool gives them.

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_LINKS_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_LINKS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/accounting/alpha_beta.h"

namespace trainbench {

// The cost of one call, and of each byte that a rank sends.
struct Link {
  std::string name;
  AlphaBeta call;
};

// "NAME:GB_PER_S:US,...", of 10^9 bytes. InvalidArgument names the value and
// what is allowed: a name as of IsName, once, and numbers of 1e-6 to 1e9.
absl::StatusOr<std::vector<Link>> ParseLinks(absl::string_view text);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_LINKS_H_
