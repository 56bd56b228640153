// SPDX-License-Identifier: MIT

#include "tools/planner/parallel_bounds.h"

#include "absl/strings/str_cat.h"
#include "model/accounting/parallel_bounds.h"
#include "tools/planner/parallel_units.h"

namespace trainbench {
namespace {

ParallelRow SplitRow(const ParallelQuery& query, Split split, Pass pass,
                     const char* name, const char* what, const char* formula) {
  return {name, what, formula, LargestSplit(split, pass, query.layer),
          ParallelUnit::kDevices};
}

ParallelRow MeshLimitRow(const ParallelQuery& query, bool overlap,
                         const char* name, const char* what,
                         const char* formula) {
  return {name, what, formula, LargestMeshLimit(query.layer, overlap),
          ParallelUnit::kDevices};
}

ParallelRow MeshRow(const ParallelQuery& query, bool overlap, const char* name,
                    const char* formula) {
  const Mesh mesh = LargestMesh(query.layer, overlap);
  return {name,
          absl::StrCat("  exactly: X = ", HumanCount(mesh.fsdp),
                       ", Y = ", HumanCount(mesh.tensor)),
          formula, mesh.devices(), ParallelUnit::kDevices};
}

std::string Constants(const LayerJob& layer, const ShardedJob& job) {
  return absl::StrCat(
      "B = ", HumanCount(layer.tokens), " tokens, F = ", HumanCount(layer.d_ff),
      ", m = ", layer.matrices, " matrices, ", MachineText(job));
}

}  // namespace

ParallelGroup BoundsGroup(const ParallelQuery& query) {
  return {
      "bounds",
      "Devices on which a feed-forward layer is compute-bound, at the most",
      Constants(query.layer, query.job),
      {SplitRow(query, Split::kData, Pass::kBackward, "data_backward_devices",
                "data parallel, backward", "N <= 1 + 2 B W / (b C)"),
       SplitRow(query, Split::kFsdp, Pass::kForward, "fsdp_forward_devices",
                "FSDP, forward", "N <= 1 + X0, X0 = 2 B W / (b C)"),
       SplitRow(query, Split::kFsdp, Pass::kBackward, "fsdp_backward_devices",
                "FSDP, backward", "N <= 1 + 2 B W / (b C)"),
       SplitRow(query, Split::kTensor, Pass::kForward, "tensor_forward_devices",
                "tensor parallel, forward", "N <= 1 + Y0, Y0 = m F W / (b C)"),
       SplitRow(query, Split::kTensor, Pass::kBackward,
                "tensor_backward_devices", "tensor parallel, backward",
                "N <= 1 + 2 m F W / (b C)"),
       MeshLimitRow(query, true, "mesh_overlapped_limit_devices",
                    "2D forward, collectives at the same time",
                    "N <~ X0 Y0 = 2 m B F (W / (b C))^2"),
       MeshRow(query, true, "mesh_overlapped_devices",
               "N <= (1 + X0) (1 + Y0)"),
       MeshLimitRow(query, false, "mesh_serial_limit_devices",
                    "2D forward, collectives one by one",
                    "N <~ X0 Y0 / 4 = m B F (W / (b C))^2 / 2"),
       MeshRow(query, false, "mesh_serial_devices",
               "max X Y, (X - 1) / X0 + (Y - 1) / Y0 <= 1")}};
}

}  // namespace trainbench
