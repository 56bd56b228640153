// SPDX-License-Identifier: MIT
// How many ranks a job has along each axis of its mesh.

#ifndef TRAINBENCH_MODEL_SPEC_PARALLEL_MESH_SHAPE_H_
#define TRAINBENCH_MODEL_SPEC_PARALLEL_MESH_SHAPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/spec/enum_names.h"

namespace trainbench {

enum class MeshAxis {
  kData,    // replicas: ranks with the same shard of the same part
  kFsdp,    // share a part of the model, shard by shard
  kTensor,  // share the model, matrix by matrix
};

inline constexpr EnumNames<MeshAxis, 3> MeshAxisName{"data", "fsdp", "tensor"};
inline constexpr auto kMeshAxes = MeshAxisName.values();

inline constexpr int64_t kMostMeshRanks = int64_t{1} << 20;

// Ranks that exchange more are nearer: rank = (data * fsdp ranks + fsdp) *
// tensor ranks + tensor.
struct MeshShape {
  int64_t data = 1;
  int64_t fsdp = 1;
  int64_t tensor = 1;

  int64_t ranks() const { return data * fsdp * tensor; }
  // Of one rank's group along the axis: how many ranks it has, and how far
  // apart they are.
  int64_t Size(MeshAxis axis) const;
  int64_t Stride(MeshAxis axis) const;
  // Whose batches differ.
  int64_t batches() const { return data * fsdp; }

  bool operator==(const MeshShape&) const = default;
};

// "data:4,fsdp:16,tensor:4".
std::string MeshName(const MeshShape& mesh);

// Inverse of MeshName; axes that are left out have one rank. InvalidArgument
// names the axis or value and what is allowed: at most kMostMeshRanks in all.
absl::StatusOr<MeshShape> ParseMesh(absl::string_view text);

// Every mesh of so many ranks.
std::vector<MeshShape> MeshesOf(int64_t ranks);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_PARALLEL_MESH_SHAPE_H_
