// SPDX-License-Identifier: MIT

#include "absl/strings/str_cat.h"
#include "model/spec/attention_variant.h"
#include "model/spec/checkpointing.h"
#include "model/spec/implementation.h"
#include "tools/planner/query.h"

namespace trainbench {
namespace {

constexpr Range kSize = {1, 1 << 20};

void AddMesh(PlannerFlags& v, FlagParser& flags) {
  Query& query = v.query;
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
  flags.Add("global_batch", query.global_batch, Range{0, 1 << 20},
            "Sequences of the whole job, instead of --batch.");
  flags.Add("reshard", query.job.sharding.reshard_after_forward,
            "Free a block's parameters after its forward pass, and gather them "
            "again for its backward pass.");
  flags.Add("prefetch", query.job.sharding.prefetch,
            "Gather the next block's parameters while a block computes.");
  flags.Add("spare_gib", v.spare_gib, Range{0, 1e9},
            "Memory of each GPU that must stay free, in GiB: the buffers of "
            "NCCL's groups, which are not rehearsed.");
  flags.Add("rehearse", query.rehearses,
            "internal: Rehearse the ranks, and predict nothing.");
  flags.AddRepeated("only", query.only,
                    "internal: MESH/CHECKPOINT of a row to answer.");
}

}  // namespace

void AddMeshFlags(PlannerFlags& v, FlagParser& flags) {
  v.query.job.step.seq = 32768;
  v.precision = "bf16";
  flags.Add("help", v.help, "internal: Print the flags and exit.");
  flags.Add("largest_batch", v.query.wants_batch,
            "internal: Also search for the largest batch, and dry-run each "
            "rank that does not fit by itself.");
  flags.Add("model", v.model,
            "A model's name (tiny, small, ..., 2.7B, gpt2, ..., 8B) or a "
            "definition, for example "
            "name=mine,d_model=512,d_ff=2048,layers=6,heads=8,vocab=32000.");
  flags.Add("implementation", v.implementation,
            absl::StrCat("Implementation of the layers, one of ",
                         ImplementationName.Joined(),
                         ". Default: ", ImplementationName(kMeshImplementation),
                         "; for a definition, its own value."));
  flags.Add("attention", v.attention,
            absl::StrCat("Attention variant, one of ", AttentionName.Joined(),
                         ". Default: the implementation's."));
  flags.Add("checkpoint", v.checkpoint,
            absl::StrCat("The activations that the backward pass recomputes: ",
                         CheckpointingNames(),
                         "; of several, separated by commas, the fastest that "
                         "fits. Default: the definition's value, otherwise ",
                         kMeshCheckpoints, "."));
  flags.Add("precision", v.precision,
            "One of fp32, tf32, bf16_autocast, bf16 (fp32 shards, gathered as "
            "bf16).");
  flags.Add("batch", v.query.job.step.batch, kSize,
            "Sequences of each data and fsdp rank; tensor ranks share them.");
  flags.Add("seq", v.query.job.step.seq, kSize, "Tokens per sequence.");
  AddMesh(v, flags);
}

}  // namespace trainbench
