// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/query.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "fixtures/device/datasheet.h"
#include "fixtures/steps/model_step.h"
#include "model/spec/attention_variant.h"
#include "model/spec/checkpointing.h"
#include "model/spec/config.h"
#include "model/spec/implementation.h"
#include "model/spec/named_models.h"
#include "model/spec/not_allowed.h"
#include "model/spec/parallel/tensor_part.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

constexpr char kAuto[] = "auto";
constexpr char kCheckpoints[] = "none,every_1";
constexpr char kImplementation[] = "fused";  // for a named model
constexpr Range kSize = {1, 1 << 20};
constexpr Range kRate = {0, 1e9};
constexpr Range kAmount = {1e-6, 1e9};  // of a link

void AddMesh(MeshFlags& v, FlagParser& flags) {
  flags.Add("help", v.help, "Print this and exit.");
  flags.Add("mesh", v.mesh,
            "Ranks along each axis, for example data:4,fsdp:16,tensor:4: data "
            "ranks are replicas, fsdp ranks shard a replica's parameters, "
            "tensor ranks split each matrix. A missing axis has one rank. Or "
            "auto, with --ranks: all meshes with this number of ranks, best "
            "first; the best is rehearsed.");
  flags.Add("ranks", v.ranks,
            "Number of ranks, which a given --mesh must have. With --mesh=auto "
            "also several, separated by commas: predicts the best mesh for "
            "each, and rehearses nothing.");
  flags.Add("rank", v.rank, {"first", "last"}, "The rank to rehearse.");
  flags.Add("predict_only", v.predict_only, "Predict, and rehearse nothing.");
}

void AddModel(MeshFlags& v, FlagParser& flags) {
  flags.Add("model", v.model,
            "A model's name (tiny, small, ..., 2.7B, gpt2, ..., 8B) or a "
            "definition, for example "
            "name=mine,d_model=512,d_ff=2048,layers=6,heads=8,vocab=32000.");
  flags.Add(
      "implementation", v.implementation,
      absl::StrCat("Implementation of the layers, one of ",
                   ImplementationName.Joined(), ". Default: ", kImplementation,
                   "; for a definition, its own value."));
  flags.Add("attention", v.attention,
            absl::StrCat("Attention variant, one of ", AttentionName.Joined(),
                         ". Default: the implementation's."));
  flags.Add("checkpoint", v.checkpoint,
            absl::StrCat("The activations that the backward pass recomputes: ",
                         CheckpointingNames(),
                         "; of several, separated by commas, the fastest that "
                         "fits. Default: the definition's value, otherwise ",
                         kCheckpoints, "."));
  flags.Add("precision", v.precision,
            "One of fp32, tf32, bf16_autocast, bf16 (fp32 shards, gathered as "
            "bf16).");
  MeshJob& job = v.query.job;
  flags.Add("batch", job.batch, kSize,
            "Sequences of each data and fsdp rank; tensor ranks share them.");
  flags.Add("global_batch", v.query.global_batch, Range{0, 1 << 20},
            "Sequences of the whole job, instead of --batch.");
  job.seq = 32768;
  flags.Add("seq", job.seq, kSize, "Tokens per sequence.");
  flags.Add("reshard", job.sharding.reshard_after_forward,
            "Free a block's parameters after its forward pass, and gather them "
            "again for its backward pass.");
  flags.Add("prefetch", job.sharding.prefetch,
            "Gather the next block's parameters while a block computes.");
}

void AddMachine(MeshFlags& v, FlagParser& flags) {
  flags.Add("links", v.links,
            "NAME:GB_PER_S:US of the links inside a node and of the links "
            "between nodes, separated by a comma: the rate at which a GPU "
            "sends, in 10^9 bytes/s, and the cost of one call, as all_reduce "
            "measures them (busbw).");
  flags.Add("node_ranks", v.query.machine.node_ranks, kSize, "GPUs per node.");
  flags.Add("spare_gib", v.spare_gib, kRate,
            "Memory of each GPU that must stay free, in GiB: the buffers of "
            "NCCL's groups, which are not rehearsed.");
  flags.Add("device_tflops", v.device_tflops, kRate,
            "Rate that a GPU reaches, in 10^12 FLOP/s. 0: the data sheet's.");
  flags.Add("memory_gb_per_s", v.memory_gb_per_s, kRate,
            "Rate that a GPU's memory reaches, in 10^9 bytes/s. 0: the data "
            "sheet's.");
}

absl::Status CheckAmount(absl::string_view what, double value) {
  if (kAmount.Has(value)) return absl::OkStatus();
  return NotAllowed(what, value, kAmount.Description());
}

absl::StatusOr<Link> ParseLink(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  double gb_per_s = 0, us = 0;
  if (parts.size() != 3 || !IsName(parts[0]) ||
      !absl::SimpleAtod(parts[1], &gb_per_s) ||
      !absl::SimpleAtod(parts[2], &us)) {
    return absl::InvalidArgumentError(
        absl::StrCat("links has '", text,
                     "'; allowed: NAME:GB_PER_S:US, separated by commas"));
  }
  const std::string link = absl::StrCat("links has '", text, "': ");
  RETURN_IF_ERROR(CheckAmount(link + "GB_PER_S", gb_per_s));
  RETURN_IF_ERROR(CheckAmount(link + "US", us));
  return Link{parts[0], {us, 1e6 / (gb_per_s * 1e9)}};
}

// Parses "NAME:GB_PER_S:US,...", GB being 10^9 bytes. The names must be unique
// (IsName), and the numbers from 1e-6 to 1e9.
absl::StatusOr<std::vector<Link>> ParseLinks(absl::string_view text) {
  std::vector<Link> links;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    ASSIGN_OR_RETURN(auto link, ParseLink(item));
    for (const Link& other : links) {
      if (other.name == link.name) {
        return absl::InvalidArgumentError(
            absl::StrCat("links has '", link.name, "' twice; allowed: once"));
      }
    }
    links.push_back(std::move(link));
  }
  return links;
}

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
  const std::string name =
      flags.implementation.empty() ? kImplementation : flags.implementation;
  ASSIGN_OR_RETURN(model.implementation,
                   ImplementationName.Parse("implementation", name));
  model.attention = AttentionOf(model.implementation);
  return model;
}

absl::StatusOr<ModelConfig> ReadModel(const MeshFlags& flags) {
  const bool defined = absl::StrContains(flags.model, '=');
  ASSIGN_OR_RETURN(auto model, defined ? ReadDefined(flags) : ReadNamed(flags));
  if (!flags.attention.empty()) {
    ASSIGN_OR_RETURN(model.attention,
                     AttentionName.Parse("attention", flags.attention));
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

void AddMeshFlags(MeshFlags& values, FlagParser& flags) {
  AddMesh(values, flags);
  AddModel(values, flags);
  AddMachine(values, flags);
}

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
  ASSIGN_OR_RETURN(job.precision,
                   PrecisionName.Parse("precision", flags.precision));
  job.last_rank = flags.rank == "last";
  query.spare_bytes = static_cast<int64_t>(flags.spare_gib * 0x1p30);
  query.rehearses = !flags.predict_only && query.ranks.size() <= 1;
  RETURN_IF_ERROR(CheckDevice(job, device));
  if (query.mesh) RETURN_IF_ERROR(OnMesh(query, *query.mesh).status());
  RETURN_IF_ERROR(ReadMachine(flags, device, query));
  return query;
}

}  // namespace trainbench
