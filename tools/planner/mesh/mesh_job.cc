// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/mesh_job.h"

#include <numeric>
#include <vector>

#include "model/distributed/fsdp/full_sharding_traffic.h"
#include "model/distributed/tensor_parallel/tensor_traffic.h"
#include "model/spec/parallel/tensor_part.h"

namespace trainbench {
namespace {

void AddSharding(const MeshJob& job, const ModelConfig& part,
                 PassTraffic& traffic) {
  const int ranks = static_cast<int>(job.mesh.fsdp);
  const int replicas = static_cast<int>(job.mesh.data);
  const auto of = [&](const FullSharding& sharding) {
    return StepTraffic(part, sharding, job.step.precision, ranks, replicas);
  };
  const FullShardingTraffic step = of(job.sharding);
  if (replicas > 1) traffic.step[MeshAxis::kData] = step.replicas;
  if (ranks == 1) return;
  traffic.step[MeshAxis::kFsdp] = step.shards;
  // Without resharding only the forward pass gathers.
  const CollectiveCalls forward = of({.reshard_after_forward = false})
                                      .shards.Of(CollectiveKind::kAllGather);
  traffic.forward[MeshAxis::kFsdp].Add(CollectiveKind::kAllGather,
                                       forward.bytes, forward.calls);
}

void AddTensor(const StepParams& part, int64_t ranks, PassTraffic& traffic) {
  if (ranks == 1) return;
  traffic.forward[MeshAxis::kTensor] =
      TensorTrafficOf(part, ranks, /*backward=*/false);
  traffic.step[MeshAxis::kTensor] =
      TensorTrafficOf(part, ranks, /*backward=*/true);
}

}  // namespace

StepParams PartStep(const MeshJob& job) {
  StepParams part = job.step;
  part.model = PartOf(part.model, job.last_rank ? job.mesh.tensor - 1 : 0,
                      job.mesh.tensor);
  return part;
}

int64_t ShardElements(const MeshJob& job) {
  const int ranks = static_cast<int>(job.mesh.fsdp);
  const std::vector<int64_t> units = UnitElements(PartStep(job).model, ranks);
  return std::accumulate(units.begin(), units.end(), int64_t{0}) / ranks;
}

PassTraffic TrafficOf(const MeshJob& job) {
  const StepParams part = PartStep(job);
  PassTraffic traffic;
  AddSharding(job, part.model, traffic);
  AddTensor(part, job.mesh.tensor, traffic);
  for (const auto& [axis, step] : traffic.step) {
    traffic.backward[axis] = step - traffic.forward[axis];
  }
  return traffic;
}

nlohmann::ordered_json CollectivesJson(const MeshTraffic& all,
                                       const MeshShape& mesh) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& [axis, traffic] : all) {
    for (const CollectiveKind kind : kCollectiveKinds) {
      const CollectiveCalls& calls = traffic.Of(kind);
      if (calls.calls == 0) continue;
      json.push_back(
          {{"group", MeshAxisName(axis)},
           {"collective", CollectiveName(kind)},
           {"calls", calls.calls},
           {"bytes", calls.bytes},
           {"sent_bytes", SentBytes(kind, calls.bytes, mesh.Size(axis))}});
    }
  }
  return json;
}

}  // namespace trainbench
