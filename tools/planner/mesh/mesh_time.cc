// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/mesh_time.h"

#include <algorithm>
#include <map>

#include "fixtures/prediction/largest_fit.h"
#include "model/accounting/number.h"

namespace trainbench {
namespace {

constexpr double kUpdateBytes = 28;  // per parameter, in fp32 (traffic.h)

// Returns the phase's compute time, summed over the components.
double ComputeUs(const MeshJob& job, const RankWork& work, Phase phase,
                 const MeshMachine& machine) {
  const double others = Number(job.batch - work.batch);
  const bool skips = VariantOf(job.model.attention).skips_masked;
  double seconds = 0;
  for (const auto& [part, more] : work.of_sequence) {
    if (part.first != phase || !part.second) continue;
    const DryWork& step = work.step.at(part);
    const double flops = step.flops + others * more.flops;
    const bool halves = skips && part.second == Component::kFusedAttention;
    seconds +=
        std::max((halves ? flops / 2 : flops) / machine.flops_per_second,
                 (step.bytes + others * more.bytes) / machine.bytes_per_second);
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
  std::map<MeshBound, double> us = {{MeshBound::kUpdate, update_us}};
  for (const PassTime& pass : {forward, backward}) {
    const bool computes =
        pass.compute_us + pass.tensor_us >= pass.fsdp_us + pass.data_us;
    // The side that is hidden takes no time.
    if (computes || !overlaps) {
      us[MeshBound::kCompute] += pass.compute_us;
      us[MeshBound::kTensor] += pass.tensor_us;
    }
    if (!computes || !overlaps) {
      us[MeshBound::kFsdp] += pass.fsdp_us;
      us[MeshBound::kData] += pass.data_us;
    }
  }
  return us[part];
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

RankWork RankWork::Of(int64_t batch, const WorkByPart& step,
                      const WorkByPart& larger) {
  RankWork work = {.batch = batch, .step = step, .of_sequence = {}};
  for (const auto& [part, done] : step) {
    const DryWork& more = larger.at(part);
    work.of_sequence[part] = {.flops = more.flops - done.flops,
                              .bytes = more.bytes - done.bytes};
  }
  return work;
}

MeshTime TimeOf(const MeshJob& job, const RankWork& work,
                const MeshMachine& machine) {
  const auto compute_us = [&](Phase phase) {
    return ComputeUs(job, work, phase, machine);
  };
  MeshTime time;
  time.overlaps = job.sharding.prefetch;
  time.forward.compute_us =
      compute_us(Phase::kForward) + compute_us(Phase::kLoss);
  time.backward.compute_us = compute_us(Phase::kBackward);
  const PassTraffic traffic = TrafficOf(job);
  AddCalls(job, traffic.forward, machine, time.forward);
  AddCalls(job, traffic.backward, machine, time.backward);
  time.update_us = 1e6 * kUpdateBytes * Number(ShardElements(job)) /
                   machine.bytes_per_second;
  return time;
}

std::optional<int64_t> ComputeBoundBatch(const MeshJob& job,
                                         const RankWork& work,
                                         const MeshMachine& machine) {
  MeshJob tried = job;
  // A batch that is compute-bound exceeds the budget of 0.
  const int64_t below = LargestFit(kMostBatch, 0, [&](int64_t batch) {
    tried.batch = batch;
    return TimeOf(tried, work, machine).is_compute_bound() ? 1.0 : 0.0;
  });
  return below < kMostBatch ? std::optional(below + 1) : std::nullopt;
}

}  // namespace trainbench
