// SPDX-License-Identifier: MIT

#include "model/spec/parallel/optimizer_sharding.h"

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

}  // namespace trainbench
