// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "fixtures/base/human_units.h"
#include "fixtures/device/device.h"
#include "fixtures/device/null_gpu.h"
#include "fixtures/steps/model_step.h"
#include "model/accounting/flops.h"
#include "model/accounting/library.h"
#include "model/accounting/number.h"
#include "model/accounting/parameters.h"
#include "model/spec/attention_variant.h"
#include "model/spec/not_allowed.h"
#include "model/spec/parallel/tensor_part.h"
#include "model/spec/status_macros.h"
#include "tools/planner/answers.h"
#include "tools/planner/mesh/mesh_job.h"
#include "tools/planner/mesh/mesh_rank.h"
#include "tools/planner/request.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kAtBuild[] =
    ": the build allocates the rank's part before it shards it";

std::string WhyNot(const RankMemory& memory, int64_t budget_bytes) {
  const int64_t needed = memory.needed_bytes();
  if (needed <= budget_bytes) return "";
  const std::string needs =
      absl::StrCat("needs ", HumanBytes(Number(needed)), " of ",
                   HumanBytes(Number(budget_bytes)));
  if (memory.build_peak_bytes > memory.step_peak_bytes) {
    return absl::StrCat(needs, kAtBuild);
  }
  const int64_t resident = memory.resident_bytes;
  return absl::StrCat(needs, ": ", HumanBytes(Number(resident)),
                      " stay between steps, a step takes ",
                      HumanBytes(Number(memory.step_peak_bytes - resident)),
                      " more at ", memory.peak_at,
                      ", unused blocks and cuBLAS ",
                      HumanBytes(Number(needed - memory.step_peak_bytes)),
                      "; largest tensors: ", memory.largest_at_peak);
}

std::string WhyNot(const Json& rehearsal, int64_t budget_bytes) {
  if (rehearsal.contains("out_of_memory")) {
    return absl::StrCat("memory ends in ",
                        rehearsal["out_of_memory"]["phase"].get<std::string>());
  }
  const auto steps = rehearsal["reserved_bytes"].get<int64_t>();
  const int64_t build = rehearsal["build_peak_bytes"].get<int64_t>() +
                        rehearsal["library_bytes"].get<int64_t>();
  const int64_t bytes = std::max(steps, build);
  if (bytes <= budget_bytes) return "";
  return absl::StrCat("takes ", HumanBytes(Number(bytes)), " of ",
                      HumanBytes(Number(budget_bytes)),
                      build > steps ? kAtBuild : "");
}

Json PredictedJson(const MeshJob& job, const RankMemory& memory) {
  const StepParams part = PartStep(job);
  const auto& [model, precision, mode, batch, seq] = part;
  // Without the masked scores that the attention variant skips.
  const double skipped = SkippedFlops(model, batch, seq);
  const double forward = ForwardFlops(model, batch, seq) - skipped;
  const double again = RecomputedFlops(model, batch, seq, mode);
  return {{"peak_bytes", memory.step_peak_bytes},
          {"peak_at", memory.peak_at},
          {"resident_bytes", memory.resident_bytes},
          {"build_peak_bytes", memory.build_peak_bytes},
          {"reserved_bytes", memory.reserved_bytes()},
          {"needed_bytes", memory.needed_bytes()},
          {"largest_batch", nullptr},
          {"part_parameters", ParameterCount(model)},
          {"shard_elements", ShardElements(job)},
          {"forward_flops", forward},
          {"backward_flops", 2 * forward},
          {"recomputed_flops", again > 0 ? again - skipped : 0.0},
          {"collectives", CollectivesJson(TrafficOf(job).step, job.mesh)}};
}

// Returns the work of each phase's components. FLOPs exclude the masked half of
// the scores that a fused kernel skips; tiled attention has no operators there.
Json WorkJson(const MeshJob& job, const WorkByPart& work) {
  const AttentionKind attention = job.step.model.attention;
  const bool skips =
      VariantOf(attention).skips_masked && attention != AttentionKind::kTiled;
  Json json = Json::object();
  for (const auto& [part, done] : work) {
    const auto& [phase, component] = part;
    if (!phase || !component) continue;
    const bool halves = skips && component == Component::kFusedAttention;
    json[PhaseName(*phase)].push_back(
        {{"flops", halves ? done.flops / 2 : done.flops},
         {"bytes", done.bytes}});
  }
  return json;
}

Json StepJson(const MeshJob& job, const WorkByPart& work) {
  const PassTraffic traffic = TrafficOf(job);
  return {{"batch", job.step.batch},
          {"work", WorkJson(job, work)},
          {"forward", CollectivesJson(traffic.forward, job.mesh)},
          {"backward", CollectivesJson(traffic.backward, job.mesh)}};
}

// Returns the rank's job. InvalidArgument if its mesh cannot divide it.
absl::StatusOr<MeshJob> JobOf(const Json& request, const Json& rank,
                              const StepParams& step) {
  MeshJob job = {.mesh = {rank.at("data"), rank.at("fsdp"), rank.at("tensor")},
                 .step = step,
                 .sharding = {.reshard_after_forward = request.at("reshard"),
                              .prefetch = request.at("prefetch")},
                 .last_rank = request.at("last_rank")};
  RETURN_IF_ERROR(ValidateParts(step.model, job.mesh.tensor));
  const int64_t global_batch = request.at("global_batch");
  if (global_batch == 0) return job;
  const auto [data, fsdp, tensor] = job.mesh;
  const int64_t batches = data * fsdp;
  if (global_batch % batches != 0) {
    return NotAllowed(
        "global_batch", global_batch,
        absl::StrCat("a multiple of ", batches, ", the data and fsdp ranks of ",
                     "data:", data, ",fsdp:", fsdp, ",tensor:", tensor));
  }
  job.step.batch = global_batch / batches;
  return job;
}

// Answers for the ranks of a request.
class Predictor {
 public:
  Predictor(const Json& request, const Device& device, int64_t budget_bytes)
      : request_(request),
        device_(device),
        budget_bytes_(budget_bytes),
        ranks_(device) {}

  Json Row(const absl::StatusOr<MeshJob>& job) {
    Json row = {{"batch", nullptr},        {"checkpoint", nullptr},
                {"fits", false},           {"why_not", ""},
                {"needed_bytes", nullptr}, {"predicted", nullptr},
                {"steps", nullptr},        {"rehearsed", nullptr}};
    const absl::Status status = job.ok() ? Fill(*job, row) : job.status();
    if (!status.ok()) row["why_not"] = std::string(status.message());
    row["fits"] = row["why_not"] == "";
    return row;
  }

 private:
  // An error says why the rest of the row is unknown.
  absl::Status Fill(const MeshJob& job, Json& row) {
    row["batch"] = job.step.batch;
    row["checkpoint"] = CheckpointingName(job.step.model.checkpointing);
    if (request_.at("rehearse")) {
      row["rehearsed"] = RehearseRank(job, device_);
      row["why_not"] = WhyNot(row["rehearsed"], budget_bytes_);
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(CheckShards(job, row));
    return Predict(job, row);
  }

  // If many meshes are tried, ranks with too large shards are not built.
  absl::Status CheckShards(const MeshJob& job, Json& row) const {
    const bool searches = request_.at("searches");
    const int64_t state = kStateBytes * ShardElements(job);
    if (!searches || state <= budget_bytes_) return absl::OkStatus();
    row["needed_bytes"] = state;
    return absl::ResourceExhaustedError(absl::StrCat(
        "needs more than ", HumanBytes(Number(state)),
        " for its shards and AdamW, of ", HumanBytes(Number(budget_bytes_))));
  }

  absl::Status Predict(const MeshJob& job, Json& row) {
    MeshJob larger = job;
    ++larger.step.batch;
    ASSIGN_OR_RETURN(const auto memory, ranks_.Predict(job));
    ASSIGN_OR_RETURN(const auto more, ranks_.PredictSteps(larger));
    row["needed_bytes"] = memory.needed_bytes();
    row["why_not"] = WhyNot(memory, budget_bytes_);
    row["predicted"] = PredictedJson(job, memory);
    row["steps"] = {StepJson(job, memory.work), StepJson(larger, more.work)};
    if (request_.at("largest_batch")) AddLargest(job, row);
    return absl::OkStatus();
  }

  void AddLargest(const MeshJob& job, Json& row) {
    row["predicted"]["largest_batch"] = ranks_.LargestBatch(job, budget_bytes_);
    if (row["why_not"] == "") return;
    // Dry-runs this rank itself, because its shards may be the largest tensors.
    const auto own = PredictRank(job, device_);
    if (own.ok()) row["why_not"] = WhyNot(*own, budget_bytes_);
  }

  const Json& request_;
  const Device& device_;
  const int64_t budget_bytes_;
  RankPredictor ranks_;
};

absl::StatusOr<Device> OpenNullGpu() {
  if (!HasNullGpu()) {
    return absl::FailedPreconditionError("the null GPU is not preloaded");
  }
  auto device = OpenDevice("cuda");
  if (device.ok()) return device;
  return absl::FailedPreconditionError(device.status().message());
}

}  // namespace

absl::StatusOr<Json> MeshRows(const Json& request) {
  static const absl::StatusOr<Device> device = OpenNullGpu();
  if (!device.ok()) return device.status();
  // Read once: what a rehearsal leaves behind must not count in the next one.
  static const int64_t free_bytes = device->FreeBytes();
  ASSIGN_OR_RETURN(auto step, ReadStep(request));
  const ModelConfig model = step.model;
  RETURN_IF_ERROR(CheckSize(model, step.precision));
  const std::string why = ModelStep::Unavailable(step, *device);
  if (!why.empty()) return absl::InvalidArgumentError(why);
  const int64_t budget_bytes =
      free_bytes - kKernelBytes - request.at("spare_bytes").get<int64_t>();
  std::vector<absl::StatusOr<MeshJob>> jobs;
  for (const Json& rank : request.at("ranks")) {
    step.model = model;
    RETURN_IF_ERROR(ReadCheckpoint(rank, step.model));
    jobs.push_back(JobOf(request, rank, step));
    if (!jobs.back().ok() && !request.at("searches")) {
      return jobs.back().status();
    }
  }
  Predictor predictor(request, *device, std::max<int64_t>(0, budget_bytes));
  Json rows = Json::array();
  for (const auto& job : jobs) rows.push_back(predictor.Row(job));
  return Json({{"device", device->name},
               {"free_bytes", free_bytes},
               {"model",
                {{"model", model.name},
                 {"parameters", ParameterCount(model)},
                 {"implementation", ImplementationName(model.implementation)},
                 {"attention", AttentionName(model.attention)},
                 {"checkpoint", CheckpointingName(model.checkpointing)}}},
               {"rows", rows}});
}

}  // namespace trainbench
