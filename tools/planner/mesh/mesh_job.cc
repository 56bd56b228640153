// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/mesh_job.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/accounting/communication.h"
#include "model/accounting/flops.h"
#include "model/accounting/parameters.h"
#include "model/distributed/fsdp/full_sharding_traffic.h"
#include "model/distributed/tensor_parallel/tensor_traffic.h"
#include "model/spec/parallel/tensor_part.h"

namespace trainbench {
namespace {

void Add(std::vector<CollectiveCalls>& to, const CollectiveCalls& calls) {
  if (calls.calls == 0) return;
  for (CollectiveCalls& known : to) {
    if (known.axis != calls.axis || known.kind != calls.kind) continue;
    known.calls += calls.calls;
    known.bytes += calls.bytes;
    return;
  }
  to.push_back(calls);
}

void AddSharding(const MeshJob& job, const ModelConfig& part,
                 MeshTraffic& traffic) {
  const int ranks = static_cast<int>(job.mesh.fsdp);
  const int replicas = static_cast<int>(job.mesh.data);
  const FullShardingTraffic step =
      StepTraffic(part, job.sharding, job.precision, ranks, replicas);
  FullSharding kept = job.sharding;
  kept.reshard_after_forward = false;
  // What is gathered once.
  const FullShardingTraffic forward =
      StepTraffic(part, kept, job.precision, ranks, replicas);
  using enum CollectiveKind;
  if (ranks > 1) {
    Add(traffic.forward,
        {MeshAxis::kFsdp, kAllGather, forward.gathers, forward.gathered_bytes});
    Add(traffic.backward,
        {MeshAxis::kFsdp, kAllGather, step.gathers - forward.gathers,
         step.gathered_bytes - forward.gathered_bytes});
    Add(traffic.backward,
        {MeshAxis::kFsdp, kReduceScatter, step.reductions, step.reduced_bytes});
  }
  Add(traffic.backward,
      {MeshAxis::kData, kAllReduce, step.averages, step.averaged_bytes});
}

void AddTensor(const StepParams& part, int64_t ranks, MeshTraffic& traffic) {
  const TensorTraffic forward =
      TensorTrafficOf(part, ranks, /*backward=*/false);
  const TensorTraffic step = TensorTrafficOf(part, ranks, /*backward=*/true);
  using enum CollectiveKind;
  Add(traffic.forward,
      {MeshAxis::kTensor, kAllReduce, forward.calls, forward.bytes});
  Add(traffic.backward,
      {MeshAxis::kTensor, kAllReduce, step.calls - forward.calls,
       step.bytes - forward.bytes});
}

}  // namespace

absl::Status Validate(const MeshJob& job) {
  return ValidateParts(job.model, job.mesh.tensor);
}

int64_t TensorRank(const MeshJob& job) {
  return job.last_rank ? job.mesh.tensor - 1 : 0;
}

StepParams PartStep(const MeshJob& job) {
  const int64_t ranks = job.mesh.tensor;
  return {.model = ranks == 1 ? job.model
                              : PartOf(job.model, TensorRank(job), ranks),
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

double CollectiveCalls::SentBytes(int64_t ranks) const {
  const double all_reduced =
      RingAllReduceBytes(static_cast<double>(bytes), ranks);
  return kind == CollectiveKind::kAllReduce ? all_reduced : all_reduced / 2;
}

std::vector<CollectiveCalls> MeshTraffic::Step() const {
  std::vector<CollectiveCalls> step = forward;
  for (const CollectiveCalls& calls : backward) Add(step, calls);
  std::sort(step.begin(), step.end(), [](const auto& a, const auto& b) {
    return std::pair(a.axis, a.kind) < std::pair(b.axis, b.kind);
  });
  return step;
}

MeshTraffic TrafficOf(const MeshJob& job) {
  const StepParams part = PartStep(job);
  MeshTraffic traffic;
  AddSharding(job, part.model, traffic);
  AddTensor(part, job.mesh.tensor, traffic);
  return traffic;
}

MeshFlops FlopsOf(const MeshJob& job) {
  const StepParams part = PartStep(job);
  const ModelConfig& model = part.model;
  const double skipped =
      VariantOf(model.attention).skips_masked
          ? static_cast<double>(model.layers) *
                LayerAttentionFlops(model, part.batch, part.seq) / 2
          : 0;
  const double forward = ForwardFlops(model, part.batch, part.seq) - skipped;
  double recomputed = RecomputedFlops(model, part.batch, part.seq, part.mode);
  if (recomputed > 0) recomputed -= skipped;
  return {forward, 2 * forward, recomputed};
}

}  // namespace trainbench
