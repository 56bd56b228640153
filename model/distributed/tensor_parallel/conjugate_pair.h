// SPDX-License-Identifier: MIT
// The two exchanges of tensor parallelism. Each is the backward pass of the
// other (Shoeybi et al. 2019, Megatron-LM, section 3: f and g).
//
//                  forward      backward
//   CopyToRanks    identity     all-reduce
//   SumOverRanks   all-reduce   identity
//
// Between the two, each rank computes with its part of the matrices. Outside,
// all ranks have the same tensors and the same gradients.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_CONJUGATE_PAIR_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_CONJUGATE_PAIR_H_

#include <ATen/core/Tensor.h>

#include "model/distributed/tensor_parallel/tensor_group.h"

namespace trainbench {

// Returns x. Its gradient is summed over the ranks in place, so nothing else
// may use that gradient; this holds if matrix products computed it. `ranks`
// must outlive the backward pass.
at::Tensor CopyToRanks(const at::Tensor& x, TensorGroup& ranks);

// Returns the sum of `summand`, which must be contiguous, over the ranks.
// Overwrites `summand`: move in the result of an operation that does not save
// it. Needs no backward function, as each summand has the sum's gradient.
at::Tensor SumOverRanks(at::Tensor summand, TensorGroup& ranks);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_CONJUGATE_PAIR_H_
