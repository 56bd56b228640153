// SPDX-License-Identifier: MIT
// One rank of a job on a mesh, and its rehearsal on a null GPU.

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_MESH_RANK_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_MESH_RANK_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "fixtures/device/device.h"
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

// Builds the rank on a null GPU, trains two steps and destroys it. Returns
// exact values, for a valid job:
//
//   peak_bytes, build_peak_bytes, resident_bytes: of tensors, without library
//     workspaces: at the peak of the steps and of the build, and between steps
//   library_bytes: of these workspaces
//   reserved_bytes: by the caching allocator, at its highest point in the steps
//   shard_elements
//   kernels: {PHASE: launches, ...}, in the second step, as the values below
//   counters: {launches, copies_d2d, ...}: tools/null_gpu/core/counters.h
//   collectives: as in CollectivesJson
//
// or, if memory ran out, out_of_memory alone: as from CatchOutOfMemory, and the
// phase, which may be "build".
nlohmann::ordered_json RehearseRank(const MeshJob& job, const Device& device);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_MESH_RANK_H_
