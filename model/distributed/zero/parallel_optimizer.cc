// SPDX-License-Identifier: MIT

#include "model/distributed/zero/parallel_optimizer.h"

#include <utility>

#include "model/distributed/zero/optimizer_kinds.h"

namespace trainbench {

absl::string_view OptimizerShardingName(OptimizerSharding sharding) {
  switch (sharding) {
    case OptimizerSharding::kReplicated:
      return "replicated";
    case OptimizerSharding::kSharded:
      return "sharded";
    case OptimizerSharding::kBroadcast:
      return "broadcast";
  }
  return "unknown";
}

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
