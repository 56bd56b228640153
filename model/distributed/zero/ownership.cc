// SPDX-License-Identifier: MIT

#include "model/distributed/zero/ownership.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace trainbench {

std::vector<int> AssignOwners(const std::vector<int64_t>& elements, int ranks) {
  std::vector<std::size_t> order(elements.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return elements[a] > elements[b]; });
  std::vector<int64_t> owned(static_cast<std::size_t>(ranks), 0);
  std::vector<int> owners(elements.size());
  for (const std::size_t i : order) {
    const auto least = std::min_element(owned.begin(), owned.end());
    owners[i] = static_cast<int>(least - owned.begin());
    *least += elements[i];
  }
  return owners;
}

}  // namespace trainbench
