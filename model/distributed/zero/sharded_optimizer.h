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
// Under broadcast, a rank receives the parameters that it does not own, f Psi
// on average. Sharding the state thus adds no traffic if the gradients are
// sharded as well (ZeRO-1, Rajbhandari et al. 2020, 7.2.1).

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_ZERO_SHARDED_OPTIMIZER_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_ZERO_SHARDED_OPTIMIZER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "model/distributed/comm/process_group.h"
#include "model/distributed/trainer/parallel_trainer.h"
#include "model/spec/parallel/sharding.h"
#include "model/training/adamw.h"

namespace trainbench {

// A trainer of replicas. All variants move each complete gradient into one flat
// buffer, which is allocated until the update, so they differ only in traffic
// and state. Under kSharded, only this rank's part of the buffer is averaged.
// Nothing is sent during the backward pass.
//
// `parameters`: as for MakeGradientSync(), equal on all ranks, with one dtype
// and device. kSharded permanently moves their values into its own buffer.
std::unique_ptr<ParallelTrainer> MakeShardedOptimizer(
    OptimizerSharding sharding, const std::vector<at::Tensor>& parameters,
    const AdamWOptions& options, ProcessGroup& group);

// Returns the rank that updates each tensor under kBroadcast. Largest first,
// each goes to the rank with the fewest elements so far (Graham 1969: the
// largest load is within 4/3 of the optimum). The same on every rank.
std::vector<int> AssignOwners(const std::vector<at::Tensor>& tensors,
                              int ranks);

// Bytes that a rank sends per step for `gradient_bytes` bytes of gradients and
// as many of parameters: column "sent" of the table above.
double OptimizerSentBytes(OptimizerSharding sharding, int64_t gradient_bytes,
                          int64_t ranks);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_ZERO_SHARDED_OPTIMIZER_H_
