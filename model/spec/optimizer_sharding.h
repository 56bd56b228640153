// SPDX-License-Identifier: MIT
// Where the ranks of a job keep the optimizer's state, by name.

#ifndef TRAINBENCH_MODEL_SPEC_OPTIMIZER_SHARDING_H_
#define TRAINBENCH_MODEL_SPEC_OPTIMIZER_SHARDING_H_

#include <array>

#include "absl/strings/string_view.h"

namespace trainbench {

enum class OptimizerSharding {
  // Gradients are all-reduced and every rank updates all parameters.
  kReplicated,
  // ZeRO stage 1 (Rajbhandari et al. 2020): parameters are views of one flat
  // buffer, of which rank r owns the r-th part, whichever tensors that cuts.
  // Gradients are reduce-scattered, each rank updates its part, the parts are
  // all-gathered in place.
  kSharded,
  // Each rank owns whole parameters, balanced by size. Gradients are
  // all-reduced, owners update, and broadcast tensor by tensor.
  kBroadcast,
};

inline constexpr std::array<OptimizerSharding, 3> kOptimizerShardings = {
    OptimizerSharding::kReplicated, OptimizerSharding::kSharded,
    OptimizerSharding::kBroadcast};

// "replicated", "sharded", "broadcast".
absl::string_view OptimizerShardingName(OptimizerSharding sharding);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_OPTIMIZER_SHARDING_H_
