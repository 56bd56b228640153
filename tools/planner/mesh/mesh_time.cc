// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/mesh_time.h"

#include <algorithm>
#include <vector>

#include "model/accounting/component_work.h"
#include "model/accounting/flops.h"
#include "model/accounting/number.h"

namespace trainbench {
namespace {

constexpr double kUpdateBytes = 28;  // per parameter, in fp32 (traffic.h)

// The least time of the forward and the backward pass, nothing recomputed.
double ComputeUs(const MeshJob& job, const MeshFlops& flops,
                 const SavedBytes& of_sequence, const MeshMachine& machine) {
  const StepParams part = PartStep(job);
  const SavedBytes saved = {.attention = job.batch * of_sequence.attention,
                            .ffn = job.batch * of_sequence.ffn,
                            .head = job.batch * of_sequence.head};
  const double counted = StepFlops(part.model, part.batch, part.seq, part.mode);
  const double skipped = counted - flops.forward - flops.backward;
  double seconds = 0;
  for (const ComponentWork& work : StepComponents(part, saved)) {
    const double done =
        work.name == "attention" ? work.flops - skipped : work.flops;
    seconds += std::max(done / machine.flops_per_second,
                        work.bytes / machine.bytes_per_second);
  }
  return 1e6 * seconds;
}

void AddCalls(const MeshJob& job, const MeshTraffic& all,
              const MeshMachine& machine, PassTime& pass) {
  for (const auto& [axis, traffic] : all) {
    const AlphaBeta link = LinkOf(job.mesh, axis, machine);
    double& us = axis == MeshAxis::kData   ? pass.data_us
                 : axis == MeshAxis::kFsdp ? pass.fsdp_us
                                           : pass.tensor_us;
    us += Number(traffic.All().calls) * link.alpha_us +
          traffic.SentBytes(job.mesh.Size(axis)) * link.us_per_byte;
  }
}

// Of the time of a pass.
double PartOfPass(const PassTime& pass, bool overlaps, MeshBound part) {
  const bool computes =
      pass.compute_us + pass.tensor_us >= pass.fsdp_us + pass.data_us;
  switch (part) {
    case MeshBound::kCompute:
      return computes || !overlaps ? pass.compute_us : 0;
    case MeshBound::kTensor:
      return computes || !overlaps ? pass.tensor_us : 0;
    case MeshBound::kFsdp:
      return !computes || !overlaps ? pass.fsdp_us : 0;
    case MeshBound::kData:
      return !computes || !overlaps ? pass.data_us : 0;
    case MeshBound::kUpdate:
      break;
  }
  return 0;
}

}  // namespace

AlphaBeta LinkOf(const MeshShape& mesh, MeshAxis axis,
                 const MeshMachine& machine) {
  const int64_t stride = mesh.Stride(axis), size = mesh.Size(axis);
  if (machine.node_ranks % (stride * size) == 0) return machine.inside.call;
  const int64_t neighbours =
      std::clamp<int64_t>(machine.node_ranks / stride, 1, size);
  return {machine.between.call.alpha_us,
          std::max(machine.inside.call.us_per_byte,
                   machine.between.call.us_per_byte / Number(neighbours))};
}

double MeshTime::Us(MeshBound part) const {
  if (part == MeshBound::kUpdate) return update_us;
  return PartOfPass(forward, overlaps, part) +
         PartOfPass(backward, overlaps, part);
}

double MeshTime::step_us() const {
  double us = 0;
  for (const MeshBound part : kMeshBounds) us += Us(part);
  return us;
}

MeshBound MeshTime::bound() const {
  return *std::max_element(
      kMeshBounds.begin(), kMeshBounds.end(),
      [&](MeshBound a, MeshBound b) { return Us(a) < Us(b); });
}

bool MeshTime::is_compute_bound() const {
  const bool hides =
      !overlaps || Us(MeshBound::kFsdp) + Us(MeshBound::kData) == 0;
  return hides && bound() == MeshBound::kCompute;
}

MeshTime TimeOf(const MeshJob& job, const SavedBytes& of_sequence,
                const MeshMachine& machine) {
  const MeshFlops flops = FlopsOf(job);
  const double compute_us = ComputeUs(job, flops, of_sequence, machine);
  MeshTime time;
  time.overlaps = job.sharding.prefetch;
  time.forward.compute_us = compute_us / 3;
  time.backward.compute_us =
      compute_us * 2 / 3 + 1e6 * flops.recomputed / machine.flops_per_second;
  const PassTraffic traffic = TrafficOf(job);
  AddCalls(job, traffic.forward, machine, time.forward);
  AddCalls(job, traffic.backward, machine, time.backward);
  time.update_us = 1e6 * kUpdateBytes * Number(ShardElements(job)) /
                   machine.bytes_per_second;
  return time;
}

std::optional<int64_t> ComputeBoundBatch(const MeshJob& job,
                                         const SavedBytes& of_sequence,
                                         const MeshMachine& machine) {
  MeshJob tried = job;
  const auto is_bound = [&](int64_t batch) {
    tried.batch = batch;
    return TimeOf(tried, of_sequence, machine).is_compute_bound();
  };
  int64_t most = 1;
  while (!is_bound(most)) {
    most *= 2;
    if (most > kMostBatch) return std::nullopt;
  }
  int64_t least = most / 2;  // is not, or is 0
  while (most - least > 1) {
    const int64_t middle = least + (most - least) / 2;
    (is_bound(middle) ? most : least) = middle;
  }
  return most;
}

}  // namespace trainbench
