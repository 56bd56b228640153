// SPDX-License-Identifier: MIT
// The traffic of fully sharded ranks, in closed form
// (model/distributed/fsdp/fully_sharded.h).

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_FSDP_FULL_SHARDING_TRAFFIC_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_FSDP_FULL_SHARDING_TRAFFIC_H_

#include <cstdint>
#include <vector>

#include "model/distributed/comm/traffic.h"
#include "model/spec/config.h"
#include "model/spec/parallel/sharding.h"
#include "model/spec/precision.h"

namespace trainbench {

struct FullShardingTraffic {
  Traffic shards;    // among the ranks that share a replica
  Traffic replicas;  // among the ranks with the same shard

  bool operator==(const FullShardingTraffic&) const = default;
};

// Elements of each unit, rounded up to a multiple of the ranks: the embeddings;
// each block; the last norm and, unless it is tied, the head.
std::vector<int64_t> UnitElements(const ModelConfig& config, int ranks);

// One training step: all units are gathered in the forward pass, blocks again
// in the backward pass if they are resharded, and all gradients are reduced.
// Recomputation adds nothing. `replicas`, if more than one, average each unit's
// gradient shard. For ranks that also split matrices, `config` is their part.
FullShardingTraffic StepTraffic(const ModelConfig& config,
                                const FullSharding& sharding,
                                Precision precision, int ranks,
                                int replicas = 1);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_FSDP_FULL_SHARDING_TRAFFIC_H_
