// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/mesh_rank.h"

#include <torch/types.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "fixtures/device/cuda_memory.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/experiment/fixture.h"
#include "fixtures/memory/allocation_recorder.h"
#include "fixtures/prediction/largest_fit.h"
#include "fixtures/prediction/rehearsal.h"
#include "fixtures/ranks/errors.h"
#include "model/accounting/library.h"
#include "model/distributed/fsdp/fully_sharded.h"
#include "model/distributed/tensor_parallel/tensor_parallel_lm.h"
#include "model/distributed/trainer/parallel_trainer.h"
#include "model/dry_run/dry_run.h"
#include "model/nn/dtype.h"
#include "model/spec/phase.h"
#include "model/spec/status_macros.h"
#include "model/training/adamw.h"
#include "model/training/precision_scope.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostBatch = int64_t{1} << 20;

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

// One rank of the job, which trains its shards of its part of the model with
// AdamW on a batch. The other ranks do not exist. The job must be valid.
class MeshRank : public StepFixture {
 public:
  MeshRank(const MeshJob& job, const Device& device)
      : job_(job),
        groups_(GroupsOf(job)),
        matmul_(job.step.precision),
        ranks_(job.step.model, *groups_[MeshAxis::kTensor]),
        model_(MakePart(ranks_,
                        at::device(TorchDevice(device)).dtype(at::kFloat))),
        sharded_(model_, job.sharding, WeightType(job.step.precision),
                 AdamWOptions(), *groups_[MeshAxis::kFsdp],
                 groups_[MeshAxis::kData].get()),
        batch_(RandomBatch(job.step.model.vocab, job.step.batch, job.step.seq,
                           TorchDevice(device))) {}

  // Nothing has values.
  absl::Status Check() override { return absl::OkStatus(); }

  void Step(PhaseObserver& phases) override {
    std::map<MeshAxis, CollectiveRecorder> recorders;
    for (const auto& [axis, group] : groups_) {
      if (group->size() > 1) recorders.try_emplace(axis, *group);
    }
    RunParallelStep(model_, sharded_, batch_, job_.step.precision, phases);
    for (const auto& [axis, recorder] : recorders) {
      traffic_[axis] = recorder.traffic();
    }
  }

  // Returns the traffic of the last step's collectives.
  const MeshTraffic& traffic() const { return traffic_; }

  // Returns the elements of the rank's shards, derived from AdamW's state: two
  // fp32 moments of each element, and a count of 4 bytes for each unit.
  int64_t ShardElements() const {
    const int64_t units = job_.step.model.layers + 2;
    return (sharded_.optimizer().StateBytes() - 4 * units) / 8;
  }

 private:
  const MeshJob job_;
  std::map<MeshAxis, std::unique_ptr<ProcessGroup>> groups_;
  MatmulScope matmul_;
  TensorRanks ranks_;
  TransformerLm model_;
  FullySharded sharded_;
  Batch batch_;
  MeshTraffic traffic_;
};

template <typename T>
absl::StatusOr<T> Try(const std::function<T()>& work) {
  absl::StatusOr<T> found;
  const absl::Status status = CatchToStatus([&] { found = work(); });
  return status.ok() ? found : status;
}

std::tuple<int64_t, int64_t, int64_t> BuildKey(const MeshJob& job) {
  return {job.mesh.tensor, job.step.batch, job.mesh.fsdp};
}

int64_t Reserved(int64_t tensor_bytes) {
  return ReservedBytes(tensor_bytes + kCublasWorkspaces);
}

}  // namespace

int64_t RankMemory::reserved_bytes() const { return Reserved(step_peak_bytes); }

int64_t RankMemory::needed_bytes() const {
  return std::max(reserved_bytes(), Reserved(build_peak_bytes));
}

absl::StatusOr<RankMemory> PredictRank(const MeshJob& job,
                                       const Device& device) {
  return Try<RankMemory>([&]() -> RankMemory {
    const DryCall step = CallDry(
        [&] { return std::make_unique<MeshRank>(job, device); }, device);
    return {.build_peak_bytes = step.build_peak_bytes,
            .step_peak_bytes = step.peak_bytes,
            .resident_bytes = step.timeline.live_after,
            .peak_at = PeakText(step.timeline),
            .largest_at_peak = LargestAtPeakText(step.timeline),
            .work = step.work};
  });
}

absl::StatusOr<RankMemory> RankPredictor::Predict(const MeshJob& job) {
  ASSIGN_OR_RETURN(auto memory, PredictSteps(job));
  ASSIGN_OR_RETURN(memory.build_peak_bytes, BuildPeak(job));
  return memory;
}

absl::StatusOr<RankMemory> RankPredictor::PredictSteps(const MeshJob& job) {
  const std::tuple key(job.mesh.tensor, job.step.batch,
                       CheckpointingName(job.step.model.checkpointing));
  const int64_t shards = kStateBytes * ShardElements(job);
  auto known = steps_.find(key);
  if (known == steps_.end()) {
    ASSIGN_OR_RETURN(auto memory, PredictRank(job, device_));
    builds_[BuildKey(job)] = memory.build_peak_bytes;
    memory.step_peak_bytes -= shards;
    memory.resident_bytes -= shards;
    known = steps_.emplace(key, std::move(memory)).first;
  }
  RankMemory mine = known->second;
  mine.step_peak_bytes += shards;
  mine.resident_bytes += shards;
  return mine;
}

absl::StatusOr<int64_t> RankPredictor::BuildPeak(const MeshJob& job) {
  const auto known = builds_.find(BuildKey(job));
  if (known != builds_.end()) return known->second;
  const auto peak = Try<int64_t>([&] {
    AllocationRecorder recorder(TorchDevice(device_));
    const DryRun dry;
    std::optional<MeshRank> rank;
    const auto build = [&](PhaseObserver&) { rank.emplace(job, device_); };
    const int64_t bytes = recorder.Record(build).peak_bytes;
    recorder.Observe([&] { rank.reset(); });
    return bytes;
  });
  if (peak.ok()) builds_[BuildKey(job)] = *peak;
  return peak;
}

int64_t RankPredictor::LargestBatch(const MeshJob& job, int64_t budget_bytes) {
  const auto build = BuildPeak(job);
  if (!build.ok() || Reserved(*build) > budget_bytes) return 0;
  MeshJob tried = job;
  return LargestFit(kMostBatch, budget_bytes, [&](int64_t batch) {
    tried.step.batch = batch;
    const auto steps = PredictSteps(tried);
    return steps.ok() ? static_cast<double>(steps->reserved_bytes())
                      : std::numeric_limits<double>::max();
  });
}

Json RehearseRank(const MeshJob& job, const Device& device) {
  device.TakeLibraryMemory();
  const int64_t library_bytes = CublasWorkspaceBytes(device.index);
  int64_t build_peak = 0;
  const auto build = [&] {
    auto rank = std::make_unique<MeshRank>(job, device);
    device.Synchronize();
    build_peak = GetCudaMemory(device.index).allocated_peak;
    // The steps' reserved memory must not include blocks of the build.
    device.ReleaseUnusedMemory();
    ResetCudaPeak(device.index);
    return rank;
  };
  const RehearsedCall call = RehearseCall(build, device);
  if (!call.out_of_memory.is_null()) {
    return {{"out_of_memory", call.out_of_memory}};
  }
  const auto& rank = static_cast<const MeshRank&>(*call.fixture);
  return {{"peak_bytes", call.memory.allocated_peak - library_bytes},
          {"build_peak_bytes", build_peak - library_bytes},
          {"resident_bytes", call.memory.allocated - library_bytes},
          {"library_bytes", library_bytes},
          {"reserved_bytes", call.memory.reserved_peak},
          {"shard_elements", rank.ShardElements()},
          {"phases", call.phases},
          {"collectives", CollectivesJson(rank.traffic(), job.mesh)}};
}

}  // namespace trainbench
