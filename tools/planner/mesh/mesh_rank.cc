// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/mesh_rank.h"

#include <torch/types.h>

#include <utility>

#include "model/nn/dtype.h"
#include "model/training/adamw.h"

namespace trainbench {
namespace {

std::unique_ptr<ProcessGroup> GroupAlong(MeshAxis axis, const MeshJob& job,
                                         Bookings& bookings) {
  const int size = static_cast<int>(job.mesh.Size(axis));
  return bookings.MakeGroup(axis, job.last_rank ? size - 1 : 0, size);
}

}  // namespace

std::unique_ptr<ProcessGroup> Bookings::MakeGroup(MeshAxis axis, int rank,
                                                  int size) {
  return ProcessGroup::Fake(
      {.backend = CommBackend::kNccl, .rank = rank, .size = size},
      [this, axis](CollectiveKind kind, int64_t bytes) {
        traffic_.forward.push_back({axis, kind, 1, bytes});
      });
}

std::vector<CollectiveCalls> Bookings::Take() {
  MeshTraffic all;
  all.backward = std::exchange(traffic_.forward, {});
  return all.Step();
}

MeshRank::MeshRank(const MeshJob& job, at::Device device, Bookings& bookings)
    : job_(job),
      data_(GroupAlong(MeshAxis::kData, job, bookings)),
      fsdp_(GroupAlong(MeshAxis::kFsdp, job, bookings)),
      tensor_(GroupAlong(MeshAxis::kTensor, job, bookings)),
      matmul_(job.precision),
      ranks_(job.model, *tensor_),
      model_(MakePart(ranks_, at::device(device).dtype(at::kFloat))),
      sharded_(model_, job.sharding, WeightType(job.precision), AdamWOptions(),
               *fsdp_, data_.get()),
      batch_(RandomBatch(job.model.vocab, job.batch, job.seq, device)) {}

void MeshRank::Run(PhaseObserver& phases) {
  phases.Enter(Phase::kForward);
  sharded_.BeforeForward();
  const at::Tensor loss = ComputeLoss(model_, batch_, job_.precision, phases);
  phases.Enter(Phase::kBackward);
  sharded_.BeforeBackward();
  loss.backward();
  phases.Enter(Phase::kCommunication);
  sharded_.Finish();
  phases.Enter(Phase::kOptimizer);
  sharded_.Step();
}

int64_t MeshRank::ShardElements() const {
  const int64_t units = job_.model.layers + 2;
  return (sharded_.StateBytes() - 4 * units) / 8;
}

}  // namespace trainbench
