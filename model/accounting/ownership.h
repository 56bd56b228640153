// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_ACCOUNTING_OWNERSHIP_H_
#define TRAINBENCH_MODEL_ACCOUNTING_OWNERSHIP_H_

#include <cstdint>
#include <vector>

namespace trainbench {

// Which rank owns each of the tensors: the largest first, each goes to the rank
// that has the least so far (Graham 1969: the most is within 4/3 of the best
// possible). The same on every rank.
std::vector<int> AssignOwners(const std::vector<int64_t>& elements, int ranks);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_OWNERSHIP_H_
