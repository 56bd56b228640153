// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_SPEC_PARALLEL_FULL_SHARDING_H_
#define TRAINBENCH_MODEL_SPEC_PARALLEL_FULL_SHARDING_H_

namespace trainbench {

// How fully sharded ranks exchange parameters and gradients
// (model/distributed/fsdp/fully_sharded.h).
struct FullSharding {
  // A block's parameters are freed after its forward pass and gathered again
  // for its backward pass.
  bool reshard_after_forward = true;
  // While a unit computes, the next unit's parameters are gathered and the
  // previous unit's gradients are reduced.
  bool prefetch = true;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_PARALLEL_FULL_SHARDING_H_
