// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fixtures/base/human_units.h"
#include "model/accounting/flops.h"
#include "model/accounting/library.h"
#include "model/accounting/number.h"
#include "model/accounting/parameters.h"
#include "model/spec/attention_variant.h"
#include "model/spec/status_macros.h"
#include "tools/planner/mesh/mesh_job.h"
#include "tools/planner/mesh/mesh_rank.h"
#include "tools/planner/plan.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kAtBuild[] =
    ": the build allocates the rank's part before it shards it";

std::string WhyNot(const RankMemory& memory, int64_t budget_bytes) {
  if (memory.needed_bytes() <= budget_bytes) return "";
  const std::string needs =
      absl::StrCat("needs ", HumanBytes(Number(memory.needed_bytes())), " of ",
                   HumanBytes(Number(budget_bytes)));
  if (memory.build_peak_bytes > memory.step_peak_bytes) {
    return absl::StrCat(needs, kAtBuild);
  }
  const int64_t resident = memory.resident_bytes;
  return absl::StrCat(needs, ": shards and AdamW take ",
                      HumanBytes(Number(resident)), ", a step ",
                      HumanBytes(Number(memory.step_peak_bytes - resident)),
                      " more at ", memory.peak_at,
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

Json MeshJson(const MeshShape& mesh) {
  return {{"name", MeshName(mesh)},
          {"data", mesh.data},
          {"fsdp", mesh.fsdp},
          {"tensor", mesh.tensor},
          {"ranks", mesh.ranks()}};
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

// Predicts the ranks of a query.
class Predictor {
 public:
  Predictor(const Query& query, const Device& device, int64_t budget_bytes)
      : query_(query),
        device_(device),
        budget_bytes_(budget_bytes),
        ranks_(device) {}

  Json Row(const MeshShape& mesh, const Checkpointing& checkpointing) {
    Json row = {
        {"mesh", MeshJson(mesh)}, {"batch", nullptr}, {"checkpoint", nullptr},
        {"fits", false},          {"why_not", ""},    {"needed_bytes", nullptr},
        {"predicted", nullptr},   {"steps", nullptr}, {"rehearsed", nullptr}};
    const absl::Status status = Fill(mesh, checkpointing, row);
    if (!status.ok()) row["why_not"] = std::string(status.message());
    row["fits"] = row["why_not"] == "";
    return row;
  }

 private:
  // An error says why the rest of the row is unknown.
  absl::Status Fill(const MeshShape& mesh, const Checkpointing& checkpointing,
                    Json& row) {
    ASSIGN_OR_RETURN(auto job, OnMesh(query_, mesh));
    job.step.model.checkpointing = checkpointing;
    row["batch"] = job.step.batch;
    row["checkpoint"] = CheckpointingName(checkpointing);
    if (query_.rehearses) {
      row["rehearsed"] = RehearseRank(job, device_);
      row["why_not"] = WhyNot(row["rehearsed"], budget_bytes_);
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(CheckShards(job, row));
    return Predict(job, row);
  }

  // If many meshes are tried, ranks with too large shards are not built.
  absl::Status CheckShards(const MeshJob& job, Json& row) const {
    const int64_t state = kStateBytes * ShardElements(job);
    if (!query_.searches || state <= budget_bytes_) return absl::OkStatus();
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
    if (query_.wants_batch) AddLargest(job, row);
    return absl::OkStatus();
  }

  void AddLargest(const MeshJob& job, Json& row) {
    row["predicted"]["largest_batch"] = ranks_.LargestBatch(job, budget_bytes_);
    if (row["why_not"] == "") return;
    // Dry-runs this rank itself, because its shards may be the largest tensors.
    const auto own = PredictRank(job, device_);
    if (own.ok()) row["why_not"] = WhyNot(*own, budget_bytes_);
  }

  const Query& query_;
  const Device& device_;
  const int64_t budget_bytes_;
  RankPredictor ranks_;
};

std::string CheckpointsText(const std::vector<Checkpointing>& all) {
  return absl::StrJoin(all, ",", [](std::string* out, const auto& one) {
    absl::StrAppend(out, CheckpointingName(one));
  });
}

Json MeshQueryJson(const Query& query) {
  const auto& [model, precision, mode, batch, seq] = query.job.step;
  const bool is_whole = query.global_batch > 0;
  return {{"model", model.name},
          {"parameters", ParameterCount(model)},
          {"implementation", ImplementationName(model.implementation)},
          {"attention", AttentionName(model.attention)},
          {"checkpoint", CheckpointsText(query.checkpointing)},
          {"precision", PrecisionName(precision)},
          {"batch", is_whole ? Json() : Json(batch)},
          {"global_batch", is_whole ? Json(query.global_batch) : Json()},
          {"seq", seq},
          {"reshard", query.job.sharding.reshard_after_forward},
          {"prefetch", query.job.sharding.prefetch},
          {"rank", query.job.last_rank ? "last" : "first"},
          {"spare_bytes", query.spare_bytes}};
}

bool IsAsked(const Query& query, const MeshShape& mesh,
             const Checkpointing& checkpointing) {
  const std::string name =
      absl::StrCat(MeshName(mesh), "/", CheckpointingName(checkpointing));
  return query.only.empty() || absl::c_linear_search(query.only, name);
}

}  // namespace

nlohmann::ordered_json PlanMeshes(const Query& query, const Device& device) {
  const int64_t free_bytes = device.FreeBytes();
  const int64_t budget_bytes = free_bytes - kKernelBytes - query.spare_bytes;
  Predictor predictor(query, device, std::max<int64_t>(0, budget_bytes));
  Json rows = Json::array();
  for (const MeshShape& mesh : query.meshes) {
    for (const Checkpointing& checkpointing : query.checkpointing) {
      if (!IsAsked(query, mesh, checkpointing)) continue;
      rows.push_back(predictor.Row(mesh, checkpointing));
    }
  }
  return {{"query", MeshQueryJson(query)},
          {"device", device.name},
          {"free_bytes", free_bytes},
          {"rows", rows}};
}

}  // namespace trainbench
