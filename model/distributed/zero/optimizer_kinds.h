// SPDX-License-Identifier: MIT
// The kinds of ParallelOptimizer, one file each; callers choose one with
// MakeParallelOptimizer().

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_ZERO_OPTIMIZER_KINDS_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_ZERO_OPTIMIZER_KINDS_H_

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "model/training/adamw.h"
#include "model/distributed/zero/parallel_optimizer.h"
#include "model/distributed/comm/process_group.h"

namespace trainbench {

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

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_ZERO_OPTIMIZER_KINDS_H_
