// SPDX-License-Identifier: MIT
// Placement of the optimizer state on the ranks of a job, by name.

#ifndef TRAINBENCH_MODEL_SPEC_PARALLEL_OPTIMIZER_SHARDING_H_
#define TRAINBENCH_MODEL_SPEC_PARALLEL_OPTIMIZER_SHARDING_H_

#include "model/spec/enum_names.h"

namespace trainbench {

enum class OptimizerSharding {
  // Gradients are all-reduced and every rank updates all parameters.
  kReplicated,
  // ZeRO stage 1 (Rajbhandari et al. 2020): parameters are views of one flat
  // buffer, and rank r owns its r-th shard, which may cut tensors. Gradients
  // are reduce-scattered, each rank updates its shard, and the shards are
  // all-gathered in place.
  kSharded,
  // Each rank owns whole parameters, balanced by size. Gradients are
  // all-reduced; each owner updates its parameters and broadcasts them one by
  // one.
  kBroadcast,
};

inline constexpr EnumNames<OptimizerSharding, 3> OptimizerShardingName{
    "replicated", "sharded", "broadcast"};
inline constexpr auto kOptimizerShardings = OptimizerShardingName.values();

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_PARALLEL_OPTIMIZER_SHARDING_H_
