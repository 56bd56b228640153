// SPDX-License-Identifier: MIT

#include "model/distributed/zero/parallel_optimizer.h"

#include <utility>

namespace trainbench {

std::unique_ptr<ParallelOptimizer> MakeParallelOptimizer(
    OptimizerSharding sharding, const std::vector<at::Tensor>& parameters,
    const AdamWOptions& options, ProcessGroup& group) {
  switch (sharding) {
    case OptimizerSharding::kReplicated:
      return MakeReplicatedAdamW(parameters, options, group);
    case OptimizerSharding::kSharded:
      return MakeShardedAdamW(parameters, options, group);
    case OptimizerSharding::kBroadcast:
      return MakeBroadcastAdamW(parameters, options, group);
  }
  TORCH_CHECK(false, "no such sharding: ", static_cast<int>(sharding));
}

}  // namespace trainbench
