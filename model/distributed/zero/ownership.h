// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_ZERO_OWNERSHIP_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_ZERO_OWNERSHIP_H_

#include <cstdint>
#include <vector>

namespace trainbench {

// Returns the owner rank of each tensor. Largest first, each tensor goes to the
// rank with the fewest elements so far (Graham 1969: the largest load is within
// 4/3 of the optimum). The result is the same on every rank.
std::vector<int> AssignOwners(const std::vector<int64_t>& elements, int ranks);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_ZERO_OWNERSHIP_H_
