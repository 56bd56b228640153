// SPDX-License-Identifier: MIT
// What fully sharded ranks send, in closed form
// (model/distributed/fsdp/fully_sharded.h).

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_FSDP_FULL_SHARDING_TRAFFIC_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_FSDP_FULL_SHARDING_TRAFFIC_H_

#include <cstdint>
#include <vector>

#include "model/spec/config.h"
#include "model/spec/parallel/full_sharding.h"
#include "model/spec/precision.h"

namespace trainbench {

// Calls, and bytes of their whole buffers. Of S bytes a rank sends
// (N - 1) / N S, whether it gathers or reduces them, and 2 (R - 1) / R S if R
// replicas average them.
struct FullShardingTraffic {
  int64_t gathers = 0;
  int64_t gathered_bytes = 0;
  int64_t reductions = 0;
  int64_t reduced_bytes = 0;
  int64_t averages = 0;
  int64_t averaged_bytes = 0;

  void Gathered(int64_t bytes) {
    ++gathers;
    gathered_bytes += bytes;
  }
  void Reduced(int64_t bytes) {
    ++reductions;
    reduced_bytes += bytes;
  }
  void Averaged(int64_t bytes) {
    if (bytes == 0) return;
    ++averages;
    averaged_bytes += bytes;
  }
  int64_t calls() const { return gathers + reductions + averages; }
  // Of one rank among the others that share its replica. Exact, because each
  // buffer divides by the ranks.
  int64_t SentBytes(int64_t ranks) const {
    return (gathered_bytes + reduced_bytes) / ranks * (ranks - 1);
  }
  // Of one rank to other replicas, rounded down.
  int64_t SentToReplicas(int64_t replicas) const {
    return 2 * averaged_bytes * (replicas - 1) / replicas;
  }
  friend bool operator==(const FullShardingTraffic&,
                         const FullShardingTraffic&) = default;
};

// Elements of each unit, rounded up to a multiple of the ranks: the embedding,
// V d; each block; the last norm and the head, d + V d.
std::vector<int64_t> UnitElements(const ModelConfig& config, int ranks);

// Bytes of a parameter as it is gathered and used: 2 for kBf16, else 4. Shards,
// and the gradients that are reduced, have 4.
int64_t GatheredWidth(Precision precision);

// One training step: all units are gathered forward, blocks again backward if
// they are resharded, and all gradients reduced. Recomputation adds nothing.
// `replicas`, if more than one, average each unit's shard of gradients. Ranks
// that share matrices too count with the sizes of their part.
FullShardingTraffic StepTraffic(const ModelConfig& config,
                                const FullSharding& sharding,
                                Precision precision, int ranks,
                                int replicas = 1);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_FSDP_FULL_SHARDING_TRAFFIC_H_
