// SPDX-License-Identifier: MIT
// Activation checkpointing: work that keeps its inputs alone and is done again
// in the backward pass (Chen et al. 2016, Training Deep Nets with Sublinear
// Memory Cost).

#ifndef TRAINBENCH_MODEL_NN_CHECKPOINT_H_
#define TRAINBENCH_MODEL_NN_CHECKPOINT_H_

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace trainbench {

// From its inputs to its results, all of them defined.
using CheckpointedWork =
    std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

// Returns `work(inputs)`, computed without a graph. One node of autograd stands
// for it: its backward pass calls `work` again, inside a span kRecomputeSpan,
// and goes back through that graph, so that results and gradients are those of
// `work(inputs)` to the last bit.
//
// `parameters` are the leaves that `work` reads beside its inputs. They are
// inputs of the node, too: their gradients come when all of the work's are
// there, through AccumulateGrad and its hooks as always, and autograd refuses
// (c10::Error) to go back once one of them, or an input, has changed.
//
// The work is done twice with the same autocast, whose cache it does not use: a
// copy that was made without a graph must not serve with one. The precision of
// matrix products is the process's (MatmulScope) and no state of a thread. The
// work must draw no random numbers: no state of a generator is restored.
//
// Without gradients it is a call of `work` and nothing else. c10::Error if the
// backward pass is to be differentiated again.
std::vector<at::Tensor> Checkpoint(CheckpointedWork work,
                                   const std::vector<at::Tensor>& inputs,
                                   const std::vector<at::Tensor>& parameters);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_CHECKPOINT_H_
