// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_MESH_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_MESH_H_

#include "model/distributed/comm/process_group.h"

namespace trainbench {

// The two groups of a rank in a mesh of data x tensor ranks. Tensor ranks are
// adjacent, since they exchange more: rank = data rank * tensor + tensor rank.
struct MeshGroups {
  ProcessGroup* tensor = nullptr;  // ranks that split one model
  ProcessGroup* data = nullptr;    // ranks with the same part
};

// All ranks of `group`, which owns the parts, call it together. Throws
// c10::Error unless `tensor` divides the number of ranks, or if the ranks do
// not join in time.
MeshGroups SplitMesh(ProcessGroup& group, int tensor);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_MESH_H_
