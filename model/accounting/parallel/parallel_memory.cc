// SPDX-License-Identifier: MIT

#include "model/accounting/parallel/parallel_memory.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "model/accounting/parallel/ownership.h"

namespace trainbench {

int64_t RingBufferElements(int64_t elements, int size) {
  return size == 1 ? 0 : 2 * std::min(kRingSegment, elements / size);
}

ParallelMemory EstimateParallelMemory(OptimizerSharding sharding,
                                      const std::vector<int64_t>& elements,
                                      int rank, int ranks, CommBackend backend,
                                      int64_t width) {
  const int64_t all =
      std::accumulate(elements.begin(), elements.end(), int64_t{0});
  const int64_t shard = (all + ranks - 1) / ranks;
  ParallelMemory memory;
  memory.parameter_bytes = width * all;
  memory.gradient_bytes = width * shard * ranks;
  switch (sharding) {
    case OptimizerSharding::kReplicated:
      memory.optimizer_bytes =
          2 * width * all + 4 * static_cast<int64_t>(elements.size());
      break;
    case OptimizerSharding::kSharded:
      memory.parameter_bytes = width * shard * ranks;
      memory.optimizer_bytes = 2 * width * shard + 4;
      if (backend == CommBackend::kGloo) {
        memory.buffer_bytes = width * RingBufferElements(shard * ranks, ranks);
      }
      break;
    case OptimizerSharding::kBroadcast: {
      const std::vector<int> owners = AssignOwners(elements, ranks);
      for (std::size_t i = 0; i < elements.size(); ++i) {
        if (owners[i] != rank) continue;
        memory.optimizer_bytes += 2 * width * elements[i] + 4;
      }
      break;
    }
  }
  return memory;
}

}  // namespace trainbench
