// SPDX-License-Identifier: MIT

#include "model/accounting/parallel/mesh_job.h"

#include <algorithm>
#include <utility>

#include "model/accounting/flops.h"
#include "model/accounting/library.h"
#include "model/accounting/parallel/communication.h"
#include "model/accounting/parallel/full_sharding.h"
#include "model/accounting/parallel/tensor_traffic.h"
#include "model/accounting/parameters.h"
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

void AddTensor(const MemoryQuery& part, MeshTraffic& traffic) {
  const TensorTraffic forward = TensorTrafficOf(part, /*backward=*/false);
  const TensorTraffic step = TensorTrafficOf(part, /*backward=*/true);
  using enum CollectiveKind;
  Add(traffic.forward,
      {MeshAxis::kTensor, kAllReduce, forward.calls, forward.bytes});
  Add(traffic.backward,
      {MeshAxis::kTensor, kAllReduce, step.calls - forward.calls,
       step.bytes - forward.bytes});
}

// model/distributed/fsdp/sharded_unit.cc, of the first unit.
int64_t BuildBytes(const MeshJob& job, const FullShardingMemory& step) {
  const ModelConfig part = PartStep(job).config;
  const int64_t unit = part.vocab * part.d_model;
  const int64_t gathered = GatheredWidth(job.precision);
  const int64_t sharded = 4 * unit + (gathered < 4 ? gathered * unit : 0) +
                          2 * 4 * unit / job.mesh.fsdp;
  const int64_t drawn =
      job.mesh.tensor > 1 ? 4 * job.model.vocab * job.model.d_model : 0;
  return std::max(4 * ParameterCount(part) + std::max(sharded, drawn),
                  step.resident_bytes() + step.input_bytes);
}

}  // namespace

absl::Status Validate(const MeshJob& job) {
  return ValidateParts(job.model, job.mesh.tensor);
}

int64_t TensorRank(const MeshJob& job) {
  return job.last_rank ? job.mesh.tensor - 1 : 0;
}

MemoryQuery PartStep(const MeshJob& job) {
  const int64_t ranks = job.mesh.tensor;
  return {.config = ranks == 1 ? job.model
                               : PartOf(job.model, TensorRank(job), ranks),
          .batch = job.batch,
          .seq = job.seq,
          .precision = job.precision,
          .mode = StepMode::kForwardBackward,
          .on_gpu = true,
          .tensor_ranks = ranks};
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
  const MemoryQuery part = PartStep(job);
  MeshTraffic traffic;
  AddSharding(job, part.config, traffic);
  AddTensor(part, traffic);
  return traffic;
}

MeshMemory MemoryOf(const MeshJob& job) {
  const MemoryQuery part = PartStep(job);
  MeshMemory memory;
  memory.step = EstimateFullSharding(
      part, job.sharding, static_cast<int>(job.mesh.fsdp), CommBackend::kNccl);
  if (!IsCountable(part)) {
    memory.reserved_bytes = memory.needed_bytes = memory.step.peak.bytes;
    return memory;
  }
  memory.build_bytes = BuildBytes(job, memory.step);
  const int64_t libraries = LibraryBytesBound({.on_cpu = false});
  memory.reserved_bytes = ReservedBytes(memory.step.peak.bytes + libraries);
  memory.needed_bytes = std::max(memory.reserved_bytes,
                                 ReservedBytes(memory.build_bytes + libraries));
  return memory;
}

int64_t LargestBatch(const MeshJob& job, int64_t budget_bytes) {
  MeshJob tried = job;
  const auto fits = [&](int64_t batch) {
    tried.batch = batch;
    return MemoryOf(tried).needed_bytes <= budget_bytes;
  };
  int64_t least = 0, most = kMostBatch + 1;  // fits, and does not
  while (most - least > 1) {
    // Doubles, until one is too large.
    const int64_t middle =
        most > kMostBatch
            ? std::min(std::max<int64_t>(2 * least, 1), kMostBatch)
            : least + (most - least) / 2;
    (fits(middle) ? least : most) = middle;
  }
  return least;
}

MeshFlops FlopsOf(const MeshJob& job) {
  const MemoryQuery part = PartStep(job);
  const ModelConfig& model = part.config;
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
