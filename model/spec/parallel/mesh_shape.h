// SPDX-License-Identifier: MIT
// The number of ranks along each axis of a job's mesh.

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
  kData,    // replicas: the same shard of the same part
  kFsdp,    // split a part of the model into shards
  kTensor,  // split each matrix of the model
};

inline constexpr EnumNames<MeshAxis, 3> MeshAxisName{"data", "fsdp", "tensor"};
inline constexpr auto kMeshAxes = MeshAxisName.values();

inline constexpr int64_t kMostMeshRanks = int64_t{1} << 20;

// The more two ranks exchange, the closer they are: rank = (data * fsdp ranks +
// fsdp) * tensor ranks + tensor.
struct MeshShape {
  int64_t data = 1;
  int64_t fsdp = 1;
  int64_t tensor = 1;

  int64_t ranks() const { return data * fsdp * tensor; }
  // The number of ranks in one rank's group along the axis.
  int64_t Size(MeshAxis axis) const;
  // The number of ranks with different batches.
  int64_t batches() const { return data * fsdp; }

  bool operator==(const MeshShape&) const = default;
};

// "data:4,fsdp:16,tensor:4".
std::string MeshName(const MeshShape& mesh);

// Inverse of MeshName; omitted axes have one rank. InvalidArgument names the
// axis or value and what is allowed: at most kMostMeshRanks in total.
absl::StatusOr<MeshShape> ParseMesh(absl::string_view text);

// Every mesh with this number of ranks.
std::vector<MeshShape> MeshesOf(int64_t ranks);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_PARALLEL_MESH_SHAPE_H_
