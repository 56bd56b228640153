// SPDX-License-Identifier: MIT
// AdamW over ranks, with its state on each of them or divided between them.
//
// Per rank and step, for Psi bytes of parameters over N ranks and with
// f = (N-1)/N; each rank's memory is in model/accounting/parallel_memory.h:
//
//              gradients            parameters       sent    AdamW's state
//   replicated all-reduce, 2 f Psi  -                2 f Psi  2 Psi
//   sharded    reduce-scatter, f    all-gather, f    2 f Psi  2 Psi / N
//   broadcast  all-reduce, 2 f      broadcast, f     3 f Psi  2 Psi / N
//
// (broadcast: a rank receives what it does not own, f Psi on average.) Dividing
// the state is thus free of traffic if gradients are divided as well.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_ZERO_PARALLEL_OPTIMIZER_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_ZERO_PARALLEL_OPTIMIZER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "model/distributed/comm/process_group.h"
#include "model/spec/optimizer_sharding.h"
#include "model/training/adamw.h"

namespace trainbench {

// One rank's end. A step calls, on every rank: forward, backward, Synchronize,
// Step; its caller then releases the gradients (sets them to none). As a
// gradient is completed in the backward pass it moves into one flat buffer, the
// same for all three, so that they differ in what they send and keep alone.
// Nothing is sent during the backward pass. Throws c10::Error if a collective
// fails.
class ParallelOptimizer {
 public:
  virtual ~ParallelOptimizer() = default;
  ParallelOptimizer(const ParallelOptimizer&) = delete;
  ParallelOptimizer& operator=(const ParallelOptimizer&) = delete;

  // The mean of the gradients over the ranks, where this rank needs it; under
  // kSharded the rest of them is left undefined. Throws c10::Error that names
  // the parameter if one has no gradient.
  virtual void Synchronize() = 0;
  // Updates what this rank owns and spreads it to all.
  virtual void Step() = 0;
  // Of AdamW's state on this rank.
  virtual int64_t StateBytes() const = 0;

 protected:
  ParallelOptimizer() = default;
};

// `parameters` as for MakeGradientSync(), alike on all ranks, of one dtype and
// device. kSharded moves their values into its buffer, where they stay.
std::unique_ptr<ParallelOptimizer> MakeParallelOptimizer(
    OptimizerSharding sharding, std::vector<at::Tensor> parameters,
    const AdamWOptions& options, ProcessGroup& group);

std::unique_ptr<ParallelOptimizer> MakeReplicatedAdamW(
    std::vector<at::Tensor> parameters, const AdamWOptions& options,
    ProcessGroup& group);

std::unique_ptr<ParallelOptimizer> MakeShardedAdamW(
    std::vector<at::Tensor> parameters, const AdamWOptions& options,
    ProcessGroup& group);

std::unique_ptr<ParallelOptimizer> MakeBroadcastAdamW(
    std::vector<at::Tensor> parameters, const AdamWOptions& options,
    ProcessGroup& group);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_ZERO_PARALLEL_OPTIMIZER_H_
