// SPDX-License-Identifier: MIT
// What fully sharded ranks send, in closed form
// (model/distributed/fsdp/fully_sharded.h).

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_FSDP_FULL_SHARDING_TRAFFIC_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_FSDP_FULL_SHARDING_TRAFFIC_H_

#include <cstdint>
#include <vector>

#include "model/distributed/comm/traffic.h"
#include "model/spec/config.h"
#include "model/spec/parallel/full_sharding.h"
#include "model/spec/precision.h"

namespace trainbench {

struct FullShardingTraffic {
  Traffic shards;    // of the ranks that share a replica
  Traffic replicas;  // of ranks with the same shard

  bool operator==(const FullShardingTraffic&) const = default;
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
