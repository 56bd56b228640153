// SPDX-License-Identifier: MIT
// The base of strategies that act on each gradient during the backward pass.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_OVERLAP_BASE_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_OVERLAP_BASE_H_

#include <cstddef>
#include <vector>

#include "model/distributed/ddp/gradient_hooks.h"
#include "model/distributed/ddp/sync_base.h"

namespace trainbench {

// Hears of each gradient once per step. A second one before Finish() would have
// to be added to what is already on its way, so it is an error: accumulate
// micro-batches with a strategy that does not overlap.
class OverlapBase : public SyncBase {
 public:
  OverlapBase(std::vector<at::Tensor> parameters, ProcessGroup& group);

  void Finish() final;

 protected:
  // The gradient of a parameter is complete.
  virtual void OnGradient(std::size_t index) = 0;
  // All gradients are complete.
  virtual void WaitAll() = 0;

 private:
  std::vector<bool> heard_;
  GradientHooks hooks_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_OVERLAP_BASE_H_
