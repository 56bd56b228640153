// SPDX-License-Identifier: MIT
// The two exchanges of tensor parallelism, each the other's backward pass
// (Shoeybi et al. 2019, Megatron-LM, section 3: f and g).
//
//                  forward      backward
//   CopyToRanks    identity     all-reduce
//   SumOverRanks   all-reduce   identity
//
// Between them each rank computes with its part of the matrices. Outside, all
// ranks have the same tensors and the same gradients.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_CONJUGATE_PAIR_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_CONJUGATE_PAIR_H_

#include <ATen/core/Tensor.h>

#include "model/distributed/tensor_parallel/tensor_group.h"

namespace trainbench {

// x, whose gradient is summed over the ranks, in place: nothing else may hold
// that gradient, as nothing does if products made it. `ranks` outlives the
// backward pass.
at::Tensor CopyToRanks(const at::Tensor& x, TensorGroup& ranks);

// The sum of `summand`, contiguous, over the ranks. Overwrites it: move in the
// result of an operation that does not save its result. The backward pass needs
// no function, the gradient of the sum being that of each summand.
at::Tensor SumOverRanks(at::Tensor summand, TensorGroup& ranks);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_CONJUGATE_PAIR_H_
