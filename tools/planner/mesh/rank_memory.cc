// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/rank_memory.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "fixtures/device/torch_device.h"
#include "fixtures/memory/allocation_recorder.h"
#include "fixtures/memory/operator_scope.h"
#include "fixtures/prediction/largest_fit.h"
#include "fixtures/ranks/errors.h"
#include "model/accounting/library.h"
#include "model/dry_run/dry_run.h"
#include "model/spec/status_macros.h"
#include "tools/planner/mesh/mesh_rank.h"

namespace trainbench {
namespace {

// A rank in a DryRun. The DryRun and the recorder outlive the rank.
class DryRank {
 public:
  DryRank(const MeshJob& job, const Device& device)
      : recorder_(TorchDevice(device)), dry_([this](const DryOperator& op) {
          const auto phase = recorder_.CurrentPhase();
          work_[{phase, CurrentPlace().component}].Add(op);
        }) {
    build_ = recorder_.Record(
        [&](PhaseObserver&) { rank_.emplace(job, TorchDevice(device)); });
  }
  ~DryRank() {
    recorder_.Observe([&] { rank_.reset(); });
  }
  DryRank(const DryRank&) = delete;
  DryRank& operator=(const DryRank&) = delete;

  int64_t build_peak_bytes() const { return build_.peak_bytes; }

  RankMemory TrainTwoSteps() {
    recorder_.Observe([&] { rank_->Run(NoObserver()); });  // a warm-up
    work_.clear();
    const AllocationTimeline step =
        recorder_.Record([&](PhaseObserver& phases) { rank_->Run(phases); });
    return {.build_peak_bytes = build_peak_bytes(),
            .step_peak_bytes = step.peak_bytes,
            .resident_bytes = step.live_after,
            .peak_at = PeakText(step),
            .largest_at_peak = LargestAtPeakText(step),
            .work = work_};
  }

 private:
  WorkByPart work_;
  AllocationRecorder recorder_;
  const DryRun dry_;
  AllocationTimeline build_;
  std::optional<MeshRank> rank_;
};

template <typename T>
absl::StatusOr<T> Try(const std::function<T()>& work) {
  absl::StatusOr<T> found;
  const absl::Status status = CatchToStatus([&] { found = work(); });
  return status.ok() ? found : status;
}

std::tuple<int64_t, int64_t, int64_t> BuildKey(const MeshJob& job) {
  return {job.mesh.tensor, job.batch, job.mesh.fsdp};
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
  return Try<RankMemory>([&] { return DryRank(job, device).TrainTwoSteps(); });
}

absl::StatusOr<RankMemory> RankPredictor::Predict(const MeshJob& job) {
  ASSIGN_OR_RETURN(auto memory, PredictSteps(job));
  ASSIGN_OR_RETURN(memory.build_peak_bytes, BuildPeak(job));
  return memory;
}

absl::StatusOr<RankMemory> RankPredictor::PredictSteps(const MeshJob& job) {
  const std::tuple key(job.mesh.tensor, job.batch,
                       CheckpointingName(job.model.checkpointing));
  auto known = steps_.find(key);
  if (known == steps_.end()) {
    ASSIGN_OR_RETURN(const auto memory, PredictRank(job, device_));
    builds_[BuildKey(job)] = memory.build_peak_bytes;
    known = steps_.emplace(key, Known{memory, ShardElements(job)}).first;
  }
  RankMemory mine = known->second.memory;
  const int64_t more =
      kStateBytes * (ShardElements(job) - known->second.shard_elements);
  mine.step_peak_bytes += more;
  mine.resident_bytes += more;
  return mine;
}

absl::StatusOr<int64_t> RankPredictor::BuildPeak(const MeshJob& job) {
  const auto known = builds_.find(BuildKey(job));
  if (known != builds_.end()) return known->second;
  const auto peak =
      Try<int64_t>([&] { return DryRank(job, device_).build_peak_bytes(); });
  if (peak.ok()) builds_[BuildKey(job)] = *peak;
  return peak;
}

int64_t RankPredictor::LargestBatch(const MeshJob& job, int64_t budget_bytes) {
  const auto build = BuildPeak(job);
  if (!build.ok() || Reserved(*build) > budget_bytes) return 0;
  MeshJob tried = job;
  return LargestFit(kMostBatch, budget_bytes, [&](int64_t batch) {
    tried.batch = batch;
    const auto steps = PredictSteps(tried);
    return steps.ok() ? static_cast<double>(steps->reserved_bytes())
                      : std::numeric_limits<double>::max();
  });
}

}  // namespace trainbench
