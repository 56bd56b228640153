// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/mesh_rank.h"

#include <torch/types.h>

#include "model/distributed/trainer/parallel_trainer.h"
#include "model/nn/dtype.h"
#include "model/training/adamw.h"

namespace trainbench {
namespace {

// Makes the rank's process groups without the other ranks.
std::map<MeshAxis, std::unique_ptr<ProcessGroup>> GroupsOf(const MeshJob& job) {
  std::map<MeshAxis, std::unique_ptr<ProcessGroup>> groups;
  for (const MeshAxis axis : kMeshAxes) {
    const int size = static_cast<int>(job.mesh.Size(axis));
    groups[axis] = ProcessGroup::Fake({.backend = CommBackend::kNccl,
                                       .rank = job.last_rank ? size - 1 : 0,
                                       .size = size});
  }
  return groups;
}

}  // namespace

MeshRank::MeshRank(const MeshJob& job, at::Device device)
    : job_(job),
      groups_(GroupsOf(job)),
      matmul_(job.precision),
      ranks_(job.model, *groups_[MeshAxis::kTensor]),
      model_(MakePart(ranks_, at::device(device).dtype(at::kFloat))),
      sharded_(model_, job.sharding, WeightType(job.precision), AdamWOptions(),
               *groups_[MeshAxis::kFsdp], groups_[MeshAxis::kData].get()),
      batch_(RandomBatch(job.model.vocab, job.batch, job.seq, device)) {}

MeshTraffic MeshRank::Run(PhaseObserver& phases) {
  std::map<MeshAxis, CollectiveRecorder> recorders;
  for (const auto& [axis, group] : groups_) {
    if (group->size() > 1) recorders.try_emplace(axis, *group);
  }
  RunParallelStep(model_, sharded_, batch_, job_.precision, phases);
  MeshTraffic traffic;
  for (const auto& [axis, recorder] : recorders) {
    traffic[axis] = recorder.traffic();
  }
  return traffic;
}

int64_t MeshRank::ShardElements() const {
  const int64_t units = job_.model.layers + 2;
  return (sharded_.StateBytes() - 4 * units) / 8;
}

}  // namespace trainbench
