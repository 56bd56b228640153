// SPDX-License-Identifier: MIT
// The base of strategies that act on each gradient during the backward pass.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_OVERLAP_BASE_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_OVERLAP_BASE_H_

#include <cstddef>
#include <vector>

#include "model/distributed/ddp/gradient_hooks.h"
#include "model/distributed/ddp/sync_base.h"

namespace trainbench {

// Handles each gradient once per step. A second gradient before Finish() is an
// error, since the first may be in flight: accumulate micro-batches with a
// strategy that does not overlap.
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
