// SPDX-License-Identifier: MIT
// AdamW on several ranks, with replicated or sharded state.
//
// Per rank and step, for Psi bytes of parameters over N ranks and with
// f = (N-1)/N:
//
//              gradients            parameters       sent    AdamW's state
//   replicated all-reduce, 2 f Psi  -                2 f Psi  2 Psi
//   sharded    reduce-scatter, f    all-gather, f    2 f Psi  2 Psi / N
//   broadcast  all-reduce, 2 f      broadcast, f     3 f Psi  2 Psi / N
//
// Under broadcast a rank receives the parameters that it does not own, f Psi on
// average. Sharding the state thus adds no traffic if the gradients are sharded
// as well.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_ZERO_PARALLEL_OPTIMIZER_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_ZERO_PARALLEL_OPTIMIZER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "model/distributed/comm/process_group.h"
#include "model/spec/parallel/optimizer_sharding.h"
#include "model/training/adamw.h"

namespace trainbench {

// One rank's optimizer. In each step every rank calls forward, backward,
// Synchronize, Step, ShareParameters; the caller then releases the gradients
// (sets them to none). All variants move each gradient, once complete, into one
// flat buffer, so they differ only in traffic and state. Nothing is sent during
// the backward pass. Throws c10::Error if a collective fails.
class ParallelOptimizer {
 public:
  virtual ~ParallelOptimizer() = default;
  ParallelOptimizer(const ParallelOptimizer&) = delete;
  ParallelOptimizer& operator=(const ParallelOptimizer&) = delete;

  // Averages over the ranks the gradients that this rank needs; under kSharded
  // the other gradients become undefined. Throws c10::Error that names a
  // parameter without a gradient.
  virtual void Synchronize() = 0;
  // Updates the parameters that this rank owns.
  virtual void Step() = 0;
  // Sends them to all ranks and receives theirs. kReplicated has nothing to
  // send.
  virtual void ShareParameters() = 0;
  // Bytes of AdamW's state on this rank.
  virtual int64_t StateBytes() const = 0;
  // Bytes that this rank sends in a step, as its buffers are: with padding. The
  // owner of a parameter sends it to each other rank.
  virtual double SentBytes() const = 0;

 protected:
  ParallelOptimizer() = default;
};

// `parameters`: as for MakeGradientSync(), equal on all ranks, with one dtype
// and device. kSharded moves their values into its own buffer for good.
std::unique_ptr<ParallelOptimizer> MakeParallelOptimizer(
    OptimizerSharding sharding, const std::vector<at::Tensor>& parameters,
    const AdamWOptions& options, ProcessGroup& group);

std::unique_ptr<ParallelOptimizer> MakeReplicatedAdamW(
    const std::vector<at::Tensor>& parameters, const AdamWOptions& options,
    ProcessGroup& group);

std::unique_ptr<ParallelOptimizer> MakeShardedAdamW(
    const std::vector<at::Tensor>& parameters, const AdamWOptions& options,
    ProcessGroup& group);

std::unique_ptr<ParallelOptimizer> MakeBroadcastAdamW(
    const std::vector<at::Tensor>& parameters, const AdamWOptions& options,
    ProcessGroup& group);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_ZERO_PARALLEL_OPTIMIZER_H_
