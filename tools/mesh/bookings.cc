// SPDX-License-Identifier: MIT

#include "tools/mesh/bookings.h"

#include <cstdint>
#include <utility>

namespace trainbench {

std::unique_ptr<ProcessGroup> Bookings::MakeGroup(MeshAxis axis, int rank,
                                                  int size) {
  return ProcessGroup::Fake(
      {.backend = CommBackend::kNccl, .rank = rank, .size = size},
      [this, axis](CollectiveKind kind, int64_t bytes) {
        traffic_.forward.push_back({axis, kind, 1, bytes});
      });
}

std::vector<CollectiveCalls> Bookings::Take() {
  MeshTraffic all;
  all.backward = std::exchange(traffic_.forward, {});
  return all.Step();
}

}  // namespace trainbench
