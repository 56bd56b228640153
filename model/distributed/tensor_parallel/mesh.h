// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_MESH_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_MESH_H_

#include <memory>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

// The two groups of a rank in a mesh of data x tensor ranks. Tensor ranks are
// adjacent, since they exchange more: rank = data rank * tensor + tensor rank.
struct MeshGroups {
  std::unique_ptr<ProcessGroup> tensor;  // ranks that split one model
  std::unique_ptr<ProcessGroup> data;    // ranks with the same part

  // Calls ProcessGroup::Close() for both.
  void Close();
};

// All ranks of `group` call it together. Throws c10::Error unless `tensor`
// divides the number of ranks, or if the ranks do not join in time.
MeshGroups SplitMesh(ProcessGroup& group, int tensor);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_MESH_H_
