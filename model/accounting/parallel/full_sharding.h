// SPDX-License-Identifier: MIT
// What fully sharded ranks send, in closed form
// (model/distributed/fsdp/fully_sharded.h).

#ifndef TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_FULL_SHARDING_H_
#define TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_FULL_SHARDING_H_

#include <cstdint>
#include <vector>

#include "model/spec/config.h"
#include "model/spec/full_sharding.h"
#include "model/spec/precision.h"

namespace trainbench {

// Calls, and bytes of their whole buffers. Of S bytes a rank sends
// (N - 1) / N S, whether it gathers or reduces them.
struct FullShardingTraffic {
  int64_t gathers = 0;
  int64_t gathered_bytes = 0;
  int64_t reductions = 0;
  int64_t reduced_bytes = 0;

  void Gathered(int64_t bytes) {
    ++gathers;
    gathered_bytes += bytes;
  }
  void Reduced(int64_t bytes) {
    ++reductions;
    reduced_bytes += bytes;
  }
  int64_t calls() const { return gathers + reductions; }
  // Of one rank. Exact, because each buffer divides by the ranks.
  int64_t SentBytes(int64_t ranks) const {
    return (gathered_bytes + reduced_bytes) / ranks * (ranks - 1);
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
FullShardingTraffic StepTraffic(const ModelConfig& config,
                                const FullSharding& sharding,
                                Precision precision, int ranks);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_FULL_SHARDING_H_
