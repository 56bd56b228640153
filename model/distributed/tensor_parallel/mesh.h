// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_MESH_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_MESH_H_

#include <memory>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

// The two groups of a rank in a mesh of data x tensor ranks. The tensor ranks
// are neighbours, since they exchange more: rank = data rank * tensor + tensor
// rank.
struct MeshGroups {
  std::unique_ptr<ProcessGroup> tensor;  // share one model
  std::unique_ptr<ProcessGroup> data;    // have the same part of its replicas

  // As ProcessGroup::Close().
  void Close();
};

// All ranks of `group` call it together. Throws c10::Error unless `tensor`
// divides their number, or if the ranks do not meet.
MeshGroups SplitMesh(ProcessGroup& group, int tensor);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_MESH_H_
