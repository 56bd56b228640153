// SPDX-License-Identifier: MIT
// Parameters that are gathered, used and freed together.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_FSDP_SHARDED_UNIT_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_FSDP_SHARDED_UNIT_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/distributed/comm/process_group.h"
#include "model/distributed/ddp/flat_buffer.h"

namespace trainbench {

// This rank's shard of some parameters and of their gradients. The parameters
// are views of one buffer, in order, and its storage is allocated only while
// the unit is gathered. Autograd's saved weights are views of the same storage,
// so the backward pass reads the values gathered last.
//
// Using a parameter of a unit that is not gathered reads address 0.
class ShardedUnit {
 public:
  // `parameters`: contiguous leaves of one dtype and device, equal on all
  // ranks. They permanently become views in `gathered_type`, and their memory
  // is freed. The shard keeps their original dtype. `replicas`, if any, are the
  // ranks with the same shard; one of them is in `group`.
  ShardedUnit(std::vector<at::Tensor> parameters, c10::ScalarType gathered_type,
              ProcessGroup& group, ProcessGroup* replicas);

  std::size_t parameters() const { return parameters_.size(); }
  // [elements / ranks], rounded up. Its gradient is the gradient's shard.
  const at::Tensor& shard() const { return shard_; }

  // If off, the rank does not communicate: it copies its own shard into the
  // places of the others, and uses its own share of the mean.
  void set_exchanges(bool on) { exchanges_ = on; }

  // Allocates the buffer and gathers into it in place, unless it is gathered or
  // in flight. All ranks call it together, as for each collective here.
  // StartGather does not wait for the values.
  void Gather();
  void StartGather();
  // Waits until the values are gathered.
  void WaitForValues();
  // Frees the buffer.
  void Free();

  // Moves the complete gradient of parameter `index`, divided by the total
  // number of ranks, into one buffer in the shard's dtype. Takes each gradient
  // once per step, and returns whether it was the last one.
  bool TakeGradient(std::size_t index);
  // Sums the buffer over the ranks into the gradient's shard and frees the
  // buffer. Then sums the shard over the replicas.
  void Reduce();
  // The same in three parts. The last one waits for the replicas.
  void StartReduce();
  void FinishReduce();
  void WaitForReplicas();

 private:
  void Refill();

  ProcessGroup& group_;
  ProcessGroup* replicas_;
  std::vector<at::Tensor> parameters_;
  at::Tensor shard_, shard_gradient_;
  // All parameters, padded to a multiple of the ranks; no storage while freed.
  at::Tensor values_;
  FlatBuffer gradients_;  // allocated from the first gradient to the sum
  bool exchanges_ = true;
  bool has_values_ = false;  // gathered or in flight
  std::size_t taken_ = 0;    // gradients taken in this step
  Collective gathering_, reducing_, averaging_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_FSDP_SHARDED_UNIT_H_
