// SPDX-License-Identifier: MIT
// The number of ranks along each axis of a job's mesh.

#ifndef TRAINBENCH_MODEL_SPEC_PARALLEL_MESH_SHAPE_H_
#define TRAINBENCH_MODEL_SPEC_PARALLEL_MESH_SHAPE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/spec/enum_names.h"

namespace trainbench {

enum class MeshAxis {
  kData,    // replicas: the same shard of the same part
  kFsdp,    // split a part of the model into shards
  kTensor,  // split each matrix of the model
};

inline constexpr EnumNames<MeshAxis, 3> MeshAxisName{"data", "fsdp", "tensor"};
inline constexpr auto kMeshAxes = MeshAxisName.values();

// The more two ranks exchange, the closer they are: rank = (data * fsdp ranks +
// fsdp) * tensor ranks + tensor.
struct MeshShape {
  int64_t data = 1;
  int64_t fsdp = 1;
  int64_t tensor = 1;

  // The number of ranks in one rank's group along the axis.
  int64_t Size(MeshAxis axis) const {
    return std::array{data, fsdp, tensor}.at(static_cast<std::size_t>(axis));
  }
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_PARALLEL_MESH_SHAPE_H_
