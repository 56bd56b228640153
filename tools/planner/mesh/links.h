// SPDX-License-Identifier: MIT
// Links between ranks, as given by the user.

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

// Parses "NAME:GB_PER_S:US,...", GB being 10^9 bytes. InvalidArgument names the
// value and what is allowed: unique names (IsName), numbers from 1e-6 to 1e9.
absl::StatusOr<std::vector<Link>> ParseLinks(absl::string_view text);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_LINKS_H_
