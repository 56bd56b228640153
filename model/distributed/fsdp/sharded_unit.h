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

namespace trainbench {

// This rank's shard of some parameters, and of their gradients. The parameters
// are views of one buffer, of all values in order, whose storage has bytes only
// while the unit is gathered. Autograd's saved weights are views of the same
// storage, so the backward pass reads what was gathered last.
//
// Whoever uses a parameter of a unit that is not gathered reads address 0.
class ShardedUnit {
 public:
  // `parameters`: contiguous leaves of one dtype and device, equal on all
  // ranks. They become views of `gathered_type` for good, and are freed. The
  // shard keeps the dtype that they had. `replicas`, if any, are the ranks that
  // have this shard, too, of which `group` has one.
  ShardedUnit(std::vector<at::Tensor> parameters, c10::ScalarType gathered_type,
              ProcessGroup& group, ProcessGroup* replicas);

  std::size_t parameters() const { return parameters_.size(); }
  // [elements / ranks], rounded up, with the gradient's shard as its gradient.
  const at::Tensor& shard() const { return shard_; }

  // Off, a rank does not communicate: it copies its own shard to where those of
  // the others belong, and takes its own gradients for the mean.
  void set_exchanges(bool on) { exchanges_ = on; }

  // Allocates the buffer and gathers into it, in place, unless it is there or
  // on its way. All ranks together, as for each collective here. StartGather
  // leaves the values on their way.
  void Gather();
  void StartGather();
  // Returns when the values are there.
  void WaitForValues();
  // Frees the buffer.
  void Free();

  // Moves the complete gradient of parameter `index`, divided by the number of
  // all ranks, into one buffer of the shard's dtype. Returns whether it was the
  // last one of a step, in which each is taken once.
  bool TakeGradient(std::size_t index);
  // Sums the buffer over the ranks into the gradient's shard, and frees it.
  // Then sums the shard over the replicas.
  void Reduce();
  // The same in three parts, the last of which waits for the replicas.
  void StartReduce();
  void FinishReduce();
  void WaitForReplicas();

 private:
  void Refill();

  ProcessGroup& group_;
  ProcessGroup* replicas_;
  std::vector<at::Tensor> parameters_;
  std::vector<int64_t> begins_;  // of each parameter, in elements
  int64_t elements_ = 0;         // padded to a multiple of the ranks
  int64_t padding_ = 0;
  at::Tensor shard_, shard_gradient_;
  at::Tensor values_;     // of all parameters; without bytes while freed
  at::Tensor gradients_;  // as many, from the first gradient to the sum
  bool exchanges_ = true;
  bool has_values_ = false;  // or on their way
  std::size_t taken_ = 0;    // gradients of this step
  std::unique_ptr<Collective> gathering_, reducing_, averaging_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_FSDP_SHARDED_UNIT_H_
