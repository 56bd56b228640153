// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/mesh_job.h"

#include <numeric>
#include <vector>

#include "model/accounting/flops.h"
#include "model/accounting/parameters.h"
#include "model/distributed/fsdp/full_sharding_traffic.h"
#include "model/distributed/tensor_parallel/tensor_traffic.h"
#include "model/spec/parallel/tensor_part.h"

namespace trainbench {
namespace {

void AddSharding(const MeshJob& job, const ModelConfig& part,
                 PassTraffic& traffic) {
  const int ranks = static_cast<int>(job.mesh.fsdp);
  const int replicas = static_cast<int>(job.mesh.data);
  const FullShardingTraffic step =
      StepTraffic(part, job.sharding, job.precision, ranks, replicas);
  if (replicas > 1) traffic.step[MeshAxis::kData] = step.replicas;
  if (ranks == 1) return;
  FullSharding kept = job.sharding;
  kept.reshard_after_forward = false;
  // Without resharding only the forward pass gathers.
  const CollectiveCalls forward =
      StepTraffic(part, kept, job.precision, ranks, replicas)
          .shards.Of(CollectiveKind::kAllGather);
  traffic.forward[MeshAxis::kFsdp].Add(CollectiveKind::kAllGather,
                                       forward.bytes, forward.calls);
  traffic.step[MeshAxis::kFsdp] = step.shards;
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
  const int64_t rank = job.last_rank ? job.mesh.tensor - 1 : 0;
  return {.model = PartOf(job.model, rank, job.mesh.tensor),
          .precision = job.precision,
          .mode = StepMode::kForwardBackward,
          .batch = job.batch,
          .seq = job.seq};
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

MeshFlops FlopsOf(const MeshJob& job) {
  const StepParams part = PartStep(job);
  const ModelConfig& model = part.model;
  const double skipped = SkippedFlops(model, part.batch, part.seq);
  const double forward = ForwardFlops(model, part.batch, part.seq) - skipped;
  double recomputed = RecomputedFlops(model, part.batch, part.seq, part.mode);
  if (recomputed > 0) recomputed -= skipped;
  return {forward, 2 * forward, recomputed};
}

}  // namespace trainbench
