// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_MESH_MESH_RANK_H_
#define TRAINBENCH_TOOLS_MESH_MESH_RANK_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "model/accounting/parallel/mesh_job.h"
#include "model/distributed/fsdp/fully_sharded.h"
#include "model/distributed/tensor_parallel/tensor_parallel_lm.h"
#include "model/training/precision_scope.h"
#include "model/training/train_step.h"
#include "tools/mesh/bookings.h"

namespace trainbench {

// What one rank of the job builds and trains: its part of the model, of which
// it has shards, AdamW on them, and a batch. The other ranks do not exist.
class MeshRank {
 public:
  // The job is valid; `bookings` outlives the object.
  MeshRank(const MeshJob& job, at::Device device, Bookings& bookings);

  // A training step.
  void Run(PhaseObserver& phases);

  // Elements of the rank's shards, as AdamW has them: with two moments each,
  // and a count of 4 bytes for each unit.
  int64_t ShardElements() const;

 private:
  const MeshJob job_;
  std::unique_ptr<ProcessGroup> data_, fsdp_, tensor_;
  MatmulScope matmul_;
  TensorRanks ranks_;
  TransformerLm model_;
  FullySharded sharded_;
  Batch batch_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_MESH_MESH_RANK_H_
