// SPDX-License-Identifier: MIT
// How the ranks of a job divide the parameters, the gradients and the optimizer
// state of a model.

#ifndef TRAINBENCH_MODEL_SPEC_PARALLEL_SHARDING_H_
#define TRAINBENCH_MODEL_SPEC_PARALLEL_SHARDING_H_

#include "model/spec/enum_names.h"

namespace trainbench {

// Placement of the optimizer state.
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

// How fully sharded ranks exchange parameters and gradients
// (model/distributed/fsdp/fully_sharded.h).
struct FullSharding {
  // A block's parameters are freed after its forward pass and gathered again
  // for its backward pass.
  bool reshard_after_forward = true;
  // While a unit computes, the next unit's parameters are gathered and the
  // previous unit's gradients are reduced.
  bool prefetch = true;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_PARALLEL_SHARDING_H_
