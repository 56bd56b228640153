// SPDX-License-Identifier: MIT
// Activation checkpointing: keeps only the inputs of some work and recomputes
// it in the backward pass (Chen et al. 2016, Training Deep Nets with Sublinear
// Memory Cost).

#ifndef TRAINBENCH_MODEL_NN_CHECKPOINT_H_
#define TRAINBENCH_MODEL_NN_CHECKPOINT_H_

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace trainbench {

// Maps inputs to results. All results are defined.
using CheckpointedWork =
    std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

// Returns `work(inputs)`, computed without a graph and represented by one
// autograd node. The node's backward pass calls `work` again, inside a span
// kRecomputeSpan, and runs backward through that graph, so that results and
// gradients equal those from `work(inputs)` bit for bit.
//
// `parameters` are the leaves that `work` reads in addition to its inputs. They
// are inputs of the node, too: their gradients arrive together, when the work's
// backward pass is done, through AccumulateGrad and its hooks as usual. If a
// parameter or an input has changed, the backward pass throws c10::Error.
//
// Both runs use the same autocast state but not its cache, because a copy that
// was cached without a graph must not be reused with one. The precision of
// matrix products is process-wide (MatmulScope), not per thread. The work must
// not draw random numbers: generator states are not restored.
//
// Without gradients, it just calls `work`. Throws c10::Error if the backward
// pass itself is to be differentiated.
std::vector<at::Tensor> Checkpoint(CheckpointedWork work,
                                   const std::vector<at::Tensor>& inputs,
                                   const std::vector<at::Tensor>& parameters);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_CHECKPOINT_H_
