// SPDX-License-Identifier: MIT

#include "absl/strings/str_cat.h"
#include "model/spec/attention_variant.h"
#include "model/spec/checkpointing.h"
#include "model/spec/implementation.h"
#include "tools/planner/mesh/query.h"

namespace trainbench {
namespace {

constexpr Range kSize = {1, 1 << 20};
constexpr Range kRate = {0, 1e9};

void AddMesh(MeshFlags& v, FlagParser& flags) {
  flags.Add("help", v.help, "Print this and exit.");
  flags.Add("mesh", v.mesh,
            "data:4,fsdp:16,tensor:4, ranks along each axis: replicas, ranks "
            "that share a replica shard by shard, and matrix by matrix. Axes "
            "that are left out have one. Or auto, with --ranks: the meshes of "
            "so many ranks, best first, of which the best is rehearsed.");
  flags.Add("ranks", v.ranks,
            "A number of ranks, which a given --mesh must have; several by "
            "comma with --mesh=auto, for the best mesh of each, none "
            "rehearsed.");
  flags.Add("rank", v.rank, {"first", "last"}, "Which rank is played.");
  flags.Add("predict_only", v.predict_only,
            "Only predicts, and rehearses nothing.");
}

void AddModel(MeshFlags& v, FlagParser& flags) {
  flags.Add("model", v.model,
            "A model's name (tiny, small, ..., 2.7B, gpt2, ..., 8B) or its "
            "definition, name=mine,d_model=512,d_ff=2048,layers=6,heads=8,"
            "vocab=32000.");
  flags.Add("implementation", v.implementation,
            absl::StrCat("How layers are computed: ", ImplementationNames(),
                         ". Default: ", kImplementation,
                         "; of a definition, what it says."));
  flags.Add("attention", v.attention,
            absl::StrCat("One of ",
                         AttentionNames([](AttentionKind) { return true; }),
                         ". Default: that of the implementation."));
  flags.Add("checkpoint", v.checkpoint,
            absl::StrCat("What is computed again: ", CheckpointingNames(),
                         "; of several by comma, the fastest that fits. "
                         "Default: what the definition says, else ",
                         kCheckpoints, "."));
  flags.Add("precision", v.precision,
            "fp32, tf32, bf16_autocast, bf16 (gathers bf16 of fp32 shards).");
  MeshJob& job = v.query.job;
  flags.Add("batch", job.batch, kSize,
            "Sequences of each replica's shard: of each rank but for tensor "
            "ranks, which share them.");
  flags.Add("global_batch", v.query.global_batch, Range{0, 1 << 20},
            "Instead of --batch, sequences of the whole job.");
  job.seq = 32768;
  flags.Add("seq", job.seq, kSize, "Tokens in one sequence.");
  flags.Add("reshard", job.sharding.reshard_after_forward,
            "A block's parameters are freed after its forward pass, and "
            "gathered again.");
  flags.Add("prefetch", job.sharding.prefetch,
            "The next block is gathered while one computes.");
}

void AddMachine(MeshFlags& v, FlagParser& flags) {
  flags.Add("links", v.links,
            "NAME:GB_PER_S:US, twice: what a GPU can send inside its node, and "
            "to other nodes, in 10^9 bytes/s, and the cost of one call, as "
            "all_reduce measures it (busbw).");
  flags.Add("node_ranks", v.query.machine.node_ranks, kSize, "GPUs of a node.");
  flags.Add(
      "spare_gib", v.spare_gib, kRate,
      "What must stay free of a GPU's memory, in units of 2^30 bytes: the "
      "buffers of NCCL's groups, which are not rehearsed.");
  flags.Add("device_tflops", v.device_tflops, kRate,
            "What a GPU reaches, in 10^12 FLOP/s. 0: its data sheet.");
  flags.Add("memory_gb_per_s", v.memory_gb_per_s, kRate,
            "Of its memory, in 10^9 bytes/s. 0: its data sheet.");
}

}  // namespace

void AddMeshFlags(MeshFlags& values, FlagParser& flags) {
  AddMesh(values, flags);
  AddModel(values, flags);
  AddMachine(values, flags);
}

}  // namespace trainbench
