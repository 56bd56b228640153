// SPDX-License-Identifier: MIT

#include "model/distributed/fsdp/full_sharding_traffic.h"

#include <cstddef>

#include "model/accounting/parameters.h"

namespace trainbench {

std::vector<int64_t> UnitElements(const ModelConfig& config, int ranks) {
  const auto padded = [&](int64_t elements) {
    return (elements + ranks - 1) / ranks * ranks;
  };
  const int64_t embedding = config.vocab * config.d_model;
  std::vector<int64_t> units(static_cast<std::size_t>(config.layers) + 2,
                             padded(BlockParameters(config)));
  units.front() = padded(embedding + config.context * config.d_model);
  units.back() =
      padded(NormParameters(config) + (config.tied_embeddings ? 0 : embedding));
  return units;
}

FullShardingTraffic StepTraffic(const ModelConfig& config,
                                const FullSharding& sharding,
                                Precision precision, int ranks, int replicas) {
  using enum CollectiveKind;
  FullShardingTraffic traffic;
  const std::vector<int64_t> units = UnitElements(config, ranks);
  // Bytes per gathered element. Shards and reduced gradients have 4.
  const int64_t gathered = WeightBytes(precision);
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    const bool is_block = unit > 0 && unit + 1 < units.size();
    const int gathers = is_block && sharding.reshard_after_forward ? 2 : 1;
    traffic.shards.Add(kAllGather, gathers * gathered * units[unit], gathers);
    traffic.shards.Add(kReduceScatter, 4 * units[unit]);
    if (replicas > 1) {
      traffic.replicas.Add(kAllReduce, 4 * units[unit] / ranks);
    }
  }
  return traffic;
}

}  // namespace trainbench
