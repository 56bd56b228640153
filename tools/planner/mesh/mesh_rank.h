// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_MESH_RANK_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_MESH_RANK_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>

#include "model/distributed/comm/process_group.h"
#include "model/distributed/fsdp/fully_sharded.h"
#include "model/distributed/tensor_parallel/tensor_parallel_lm.h"
#include "model/training/precision_scope.h"
#include "model/training/train_step.h"
#include "tools/planner/mesh/mesh_job.h"

namespace trainbench {

// One rank of the job, which trains its shards of its part of the model with
// AdamW on a batch. The other ranks do not exist.
class MeshRank {
 public:
  // The job must be valid.
  MeshRank(const MeshJob& job, at::Device device);

  // Runs a training step. Returns the traffic of its collectives.
  MeshTraffic Run(PhaseObserver& phases);

  // Returns the elements of the rank's shards, derived from AdamW's state: two
  // fp32 moments of each element, and a count of 4 bytes for each unit.
  int64_t ShardElements() const;

 private:
  const MeshJob job_;
  std::map<MeshAxis, std::unique_ptr<ProcessGroup>> groups_;
  MatmulScope matmul_;
  TensorRanks ranks_;
  TransformerLm model_;
  FullySharded sharded_;
  Batch batch_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_MESH_RANK_H_
