// SPDX-License-Identifier: MIT
// One rank of a job on a mesh, and its rehearsal on a null GPU.

#ifndef TRAINBENCH_TOOLS_PLANNER_MESH_MESH_RANK_H_
#define TRAINBENCH_TOOLS_PLANNER_MESH_MESH_RANK_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/device/device.h"
#include "fixtures/memory/out_of_memory.h"
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

// The memory and work of a rank on a null GPU. All values are exact.
struct MeshRehearsal {
  // The phase in which memory ran out, or "build"; later values are then 0.
  std::optional<OutOfMemory> out_of_memory;
  std::string ended_in;  // the last phase that began

  int64_t shard_elements = 0;
  // Bytes of tensors, without library workspaces: at the peak of the build and
  // of the steps, and between steps.
  int64_t build_peak_bytes = 0;
  int64_t step_peak_bytes = 0;
  int64_t resident_bytes = 0;
  int64_t library_bytes = 0;
  // Reserved by the caching allocator, at its highest point during the steps.
  int64_t reserved_bytes = 0;
  // The fields below count the second step.
  MeshTraffic collectives;
  std::vector<std::pair<std::string, int64_t>> kernels;  // by phase
  // "launches", "copies_d2d", ...: tools/null_gpu/core/counters.h
  std::map<std::string, int64_t> counters;
};

// Builds the rank, trains two steps and destroys it. The job must be valid.
MeshRehearsal RehearseRank(const MeshJob& job, const Device& device);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MESH_MESH_RANK_H_
