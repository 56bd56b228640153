// SPDX-License-Identifier: MIT

#include "tools/planner/query.h"

#include <cstdint>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "fixtures/base/did_you_mean.h"
#include "fixtures/steps/model_step.h"
#include "model/spec/named_models.h"
#include "model/spec/not_allowed.h"
#include "model/spec/parallel/tensor_part.h"
#include "model/spec/status_macros.h"
#include "tools/planner/request.h"

namespace trainbench {
namespace {

constexpr char kAuto[] = "auto";
constexpr double kBytesPerGib = 1 << 30;
// Parses each item of `text`. InvalidArgument if an item occurs twice.
template <typename T, typename Parse>
absl::StatusOr<std::vector<T>> ParseList(absl::string_view what,
                                         absl::string_view text,
                                         const Parse& parse) {
  std::vector<T> values;
  std::set<absl::string_view> seen;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    ASSIGN_OR_RETURN(auto value, parse(item));
    if (!seen.insert(item).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " '", item, "' is given twice; allowed: once"));
    }
    values.push_back(std::move(value));
  }
  return values;
}

absl::StatusOr<std::vector<Checkpointing>> ParseCheckpoints(
    absl::string_view text) {
  return ParseList<Checkpointing>("checkpoint", text, ParseCheckpointing);
}

absl::StatusOr<std::vector<int64_t>> ParseRanks(absl::string_view text) {
  return ParseList<int64_t>(
      "ranks", text, [&](absl::string_view item) -> absl::StatusOr<int64_t> {
        int64_t ranks = 0;
        if (absl::SimpleAtoi(item, &ranks) && ranks >= 1 &&
            ranks <= kMostMeshRanks) {
          return ranks;
        }
        return TextNotAllowed(
            "ranks", text,
            absl::StrCat("1 to ", kMostMeshRanks, ", separated by commas"));
      });
}

absl::StatusOr<ModelConfig> FindModelOrNearest(
    absl::string_view name, const std::vector<ModelConfig>& models) {
  absl::StatusOr<ModelConfig> model = FindModel(name, models);
  if (model.ok()) return model;
  std::vector<std::string> names;
  for (const ModelConfig& known : models) names.push_back(known.name);
  const std::vector<std::string> nearest = DidYouMean(name, names, 1);
  if (nearest.empty()) return model;
  return absl::NotFoundError(absl::StrCat(
      model.status().message(), "; did you mean '", nearest[0], "'?"));
}

absl::StatusOr<ModelConfig> ReadNamed(const PlannerFlags& flags) {
  ASSIGN_OR_RETURN(auto model, FindModelOrNearest(flags.model, NamedModels()));
  model.implementation = kMeshImplementation;
  if (!flags.implementation.empty()) {
    ASSIGN_OR_RETURN(
        model.implementation,
        ImplementationName.Parse("implementation", flags.implementation));
  }
  model.attention = AttentionOf(model.implementation);
  return model;
}

absl::StatusOr<ModelConfig> ReadMeshModel(const PlannerFlags& flags) {
  std::string definition = flags.model;
  if (!flags.implementation.empty()) {
    absl::StrAppend(&definition, ",implementation=", flags.implementation);
  }
  const bool is_defined = absl::StrContains(flags.model, '=');
  ASSIGN_OR_RETURN(auto model,
                   is_defined ? ParseModel(definition) : ReadNamed(flags));
  if (!flags.attention.empty()) {
    ASSIGN_OR_RETURN(model.attention,
                     AttentionName.Parse("attention", flags.attention));
  }
  return model;
}

absl::Status ReadMeshes(const PlannerFlags& flags, Query& query) {
  std::vector<int64_t> ranks;
  if (!flags.ranks.empty()) {
    ASSIGN_OR_RETURN(ranks, ParseRanks(flags.ranks));
  }
  query.searches = flags.mesh == kAuto;
  if (query.searches) {
    if (ranks.empty()) {
      return TextNotAllowed("mesh", flags.mesh, "auto only with --ranks");
    }
    for (const int64_t number : ranks) {
      const std::vector<MeshShape> meshes = MeshesOf(number);
      query.meshes.insert(query.meshes.end(), meshes.begin(), meshes.end());
    }
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const MeshShape mesh, ParseMesh(flags.mesh));
  query.meshes = {mesh};
  if (!ranks.empty() && ranks != std::vector<int64_t>{mesh.ranks()}) {
    return TextNotAllowed(
        "ranks", flags.ranks,
        absl::StrCat(mesh.ranks(), ", the product of ", MeshName(mesh)));
  }
  return OnMesh(query, mesh).status();
}

}  // namespace

absl::StatusOr<Query> ReadMeshQuery(const PlannerFlags& flags,
                                    const Device& device) {
  Query query = flags.query;
  StepParams& step = query.job.step;
  ASSIGN_OR_RETURN(step.model, ReadMeshModel(flags));
  query.checkpointing = {step.model.checkpointing};
  if (!flags.checkpoint.empty() ||
      step.model.checkpointing == Checkpointing()) {
    ASSIGN_OR_RETURN(
        query.checkpointing,
        ParseCheckpoints(flags.checkpoint.empty() ? kMeshCheckpoints
                                                  : flags.checkpoint));
  }
  ASSIGN_OR_RETURN(step.precision,
                   PrecisionName.Parse("precision", flags.precision));
  RETURN_IF_ERROR(CheckSize(step.model, step.precision));
  query.job.last_rank = flags.rank == "last";
  query.spare_bytes = static_cast<int64_t>(flags.spare_gib * kBytesPerGib);
  const std::string why = ModelStep::Unavailable(step, device);
  if (!why.empty()) return absl::InvalidArgumentError(why);
  RETURN_IF_ERROR(ReadMeshes(flags, query));
  return query;
}

absl::StatusOr<MeshJob> OnMesh(const Query& query, const MeshShape& mesh) {
  MeshJob job = query.job;
  job.mesh = mesh;
  RETURN_IF_ERROR(ValidateParts(job.step.model, mesh.tensor));
  if (query.global_batch == 0) return job;
  if (query.global_batch % mesh.batches() != 0) {
    return NotAllowed(
        "global_batch", query.global_batch,
        absl::StrCat("a multiple of ", mesh.batches(),
                     ", the data and fsdp ranks of ", MeshName(mesh)));
  }
  job.step.batch = query.global_batch / mesh.batches();
  return job;
}

}  // namespace trainbench
