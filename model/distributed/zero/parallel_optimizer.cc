// SPDX-License-Identifier: MIT

#include "model/distributed/zero/parallel_optimizer.h"

#include <utility>

namespace trainbench {

std::unique_ptr<ParallelOptimizer> MakeParallelOptimizer(
    OptimizerSharding sharding, std::vector<at::Tensor> parameters,
    const AdamWOptions& options, ProcessGroup& group) {
  switch (sharding) {
    case OptimizerSharding::kReplicated:
      return MakeReplicatedAdamW(std::move(parameters), options, group);
    case OptimizerSharding::kSharded:
      return MakeShardedAdamW(std::move(parameters), options, group);
    case OptimizerSharding::kBroadcast:
      return MakeBroadcastAdamW(std::move(parameters), options, group);
  }
  TORCH_CHECK(false, "no such sharding: ", static_cast<int>(sharding));
}

}  // namespace trainbench
