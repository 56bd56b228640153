// SPDX-License-Identifier: MIT
// Bytes that a fully sharded rank keeps alive
// (model/distributed/fsdp/fully_sharded.h).

#ifndef TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_FULL_SHARDING_MEMORY_H_
#define TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_FULL_SHARDING_MEMORY_H_

#include <cstdint>
#include <string>

#include "model/accounting/memory.h"
#include "model/spec/comm_backend.h"
#include "model/spec/parallel/full_sharding.h"

namespace trainbench {

struct FullShardingMemory {
  // Between steps, all in fp32: shards of parameters and of gradients, AdamW's
  // moments and a step count per unit. 16 / N bytes per parameter over N ranks,
  // rounded up unit by unit, and 4 per unit.
  int64_t shard_bytes = 0;
  int64_t gradient_shard_bytes = 0;
  int64_t optimizer_bytes = 0;
  int64_t input_bytes = 0;  // tokens, targets, rotary tables
  // Beside them: what the step computes, and the units that it has gathered,
  // whose gradients it collects, and whose gradients are being summed.
  PeakCandidate peak;
  // The largest tensor of those that the step itself has made by then.
  std::string largest_at_peak;
  int64_t largest_at_peak_bytes = 0;

  int64_t resident_bytes() const {
    return shard_bytes + gradient_shard_bytes + optimizer_bytes;
  }
};

// One training step of a rank with this query's batch; its mode is not looked
// at. Beside what a whole model's step computes, at most there are, with U the
// elements of a unit and w their width as gathered (GatheredWidth):
//
//   reshard, no prefetch  w U, and backward 4 U of gradients
//   reshard, prefetch     2 w U, and backward 2 * 4 U of gradients
//   no reshard            w U for every block
//
// And while Gloo sums: 8 min(U / N, 2^18) for its ring, or with prefetch
// 4 U (N - 1) / N for what the other ranks send. If the job is not countable
// (IsCountable), the peak is the largest int64_t and all else 0.
FullShardingMemory EstimateFullSharding(const MemoryQuery& query,
                                        const FullSharding& sharding, int ranks,
                                        CommBackend backend);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_FULL_SHARDING_MEMORY_H_
