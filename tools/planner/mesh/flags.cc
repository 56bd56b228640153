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
  flags.Add("implementation", v.implementation,
            absl::StrCat("Implementation of the layers, one of ",
                         ImplementationNames(), ". Default: ", kImplementation,
                         "; for a definition, its own value."));
  flags.Add("attention", v.attention,
            absl::StrCat("Attention variant, one of ",
                         AttentionNames([](AttentionKind) { return true; }),
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

}  // namespace

void AddMeshFlags(MeshFlags& values, FlagParser& flags) {
  AddMesh(values, flags);
  AddModel(values, flags);
  AddMachine(values, flags);
}

}  // namespace trainbench
