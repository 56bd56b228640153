// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/query.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "fixtures/device/datasheet.h"
#include "fixtures/steps/model_step.h"
#include "model/spec/attention_variant.h"
#include "model/spec/named_models.h"
#include "model/spec/not_allowed.h"
#include "model/spec/parallel/tensor_part.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

constexpr char kAuto[] = "auto";

absl::StatusOr<std::vector<int64_t>> ParseRanks(const std::string& text) {
  std::vector<int64_t> all;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    int64_t& ranks = all.emplace_back();
    if (!absl::SimpleAtoi(item, &ranks) || ranks < 1 ||
        ranks > kMostMeshRanks) {
      return TextNotAllowed(
          "ranks", text,
          absl::StrCat("1 to ", kMostMeshRanks, ", separated by commas"));
    }
  }
  return all;
}

absl::Status ReadMesh(const MeshFlags& flags, MeshQuery& query) {
  if (!flags.ranks.empty()) {
    ASSIGN_OR_RETURN(query.ranks, ParseRanks(flags.ranks));
  }
  if (flags.mesh == kAuto) {
    if (!query.ranks.empty()) return absl::OkStatus();
    return TextNotAllowed("mesh", flags.mesh, "auto only with --ranks");
  }
  ASSIGN_OR_RETURN(const MeshShape mesh, ParseMesh(flags.mesh));
  query.mesh = mesh;
  if (query.ranks.empty() ||
      query.ranks == std::vector<int64_t>{mesh.ranks()}) {
    return absl::OkStatus();
  }
  return TextNotAllowed(
      "ranks", flags.ranks,
      absl::StrCat(mesh.ranks(), ", the product of ", MeshName(mesh)));
}

// Appends the flag to the definition, which may contain it only once.
absl::StatusOr<ModelConfig> ReadDefined(const MeshFlags& flags) {
  if (flags.implementation.empty()) return ParseModel(flags.model);
  return ParseModel(
      absl::StrCat(flags.model, ",implementation=", flags.implementation));
}

absl::StatusOr<ModelConfig> ReadNamed(const MeshFlags& flags) {
  ASSIGN_OR_RETURN(auto model, FindModel(flags.model, NamedModels()));
  ASSIGN_OR_RETURN(
      const auto implementation,
      ParseImplementation(flags.implementation.empty() ? kImplementation
                                                       : flags.implementation));
  model.implementation = implementation;
  model.attention = AttentionOf(implementation);
  return model;
}

absl::StatusOr<ModelConfig> ReadModel(const MeshFlags& flags) {
  const bool defined = absl::StrContains(flags.model, '=');
  ASSIGN_OR_RETURN(auto model, defined ? ReadDefined(flags) : ReadNamed(flags));
  if (!flags.attention.empty()) {
    ASSIGN_OR_RETURN(model.attention,
                     ParseName("attention", flags.attention, AttentionKinds(),
                               AttentionName));
  }
  return model;
}

absl::StatusOr<std::vector<Checkpointing>> ReadCheckpointing(
    const MeshFlags& flags, const ModelConfig& model) {
  if (flags.checkpoint.empty() && model.checkpointing != Checkpointing()) {
    return std::vector{model.checkpointing};
  }
  const std::string text =
      flags.checkpoint.empty() ? kCheckpoints : flags.checkpoint;
  std::vector<Checkpointing> all;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    ASSIGN_OR_RETURN(const auto one, ParseCheckpointing(item));
    all.push_back(one);
  }
  return all;
}

absl::Status CheckDevice(const MeshJob& job, const Device& device) {
  const std::string why = ModelStep::Unavailable(
      {.model = job.model, .precision = job.precision, .seq = job.seq}, device);
  return why.empty() ? absl::OkStatus() : absl::InvalidArgumentError(why);
}

absl::Status ReadMachine(const MeshFlags& flags, const Device& device,
                         MeshQuery& query) {
  MeshMachine& machine = query.machine;
  ASSIGN_OR_RETURN(const auto links, ParseLinks(flags.links));
  if (links.size() != 2) {
    return TextNotAllowed("links", flags.links,
                          "two links, inside a node and between nodes");
  }
  machine.inside = links[0];
  machine.between = links[1];
  machine.flops_per_second =
      flags.device_tflops > 0
          ? flags.device_tflops * 1e12
          : DatasheetFlops(device.name, query.job.precision).value_or(0);
  machine.bytes_per_second = flags.memory_gb_per_s > 0
                                 ? flags.memory_gb_per_s * 1e9
                                 : DatasheetBandwidth(device.name).value_or(0);
  if (machine.flops_per_second > 0 && machine.bytes_per_second > 0) {
    return absl::OkStatus();
  }
  return NotAllowed("device_tflops or memory_gb_per_s", 0,
                    absl::StrCat("above 0, because the data sheet of ",
                                 device.name, " is unknown"));
}

}  // namespace

absl::StatusOr<MeshJob> OnMesh(const MeshQuery& query, const MeshShape& mesh) {
  MeshJob job = query.job;
  job.mesh = mesh;
  RETURN_IF_ERROR(ValidateParts(job.model, mesh.tensor));
  if (query.global_batch == 0) return job;
  if (query.global_batch % mesh.batches() != 0) {
    return NotAllowed(
        "global_batch", query.global_batch,
        absl::StrCat("a multiple of ", mesh.batches(),
                     ", the data and fsdp ranks of ", MeshName(mesh)));
  }
  job.batch = query.global_batch / mesh.batches();
  return job;
}

absl::StatusOr<MeshQuery> ReadMeshQuery(const MeshFlags& flags,
                                        const Device& device) {
  MeshQuery query = flags.query;
  MeshJob& job = query.job;
  RETURN_IF_ERROR(ReadMesh(flags, query));
  ASSIGN_OR_RETURN(job.model, ReadModel(flags));
  ASSIGN_OR_RETURN(query.checkpointing, ReadCheckpointing(flags, job.model));
  ASSIGN_OR_RETURN(job.precision, ParsePrecision(flags.precision));
  job.last_rank = flags.rank == "last";
  query.spare_bytes = static_cast<int64_t>(flags.spare_gib * 0x1p30);
  query.rehearses = !flags.predict_only && query.ranks.size() <= 1;
  RETURN_IF_ERROR(CheckDevice(job, device));
  if (query.mesh) RETURN_IF_ERROR(OnMesh(query, *query.mesh).status());
  RETURN_IF_ERROR(ReadMachine(flags, device, query));
  return query;
}

}  // namespace trainbench
