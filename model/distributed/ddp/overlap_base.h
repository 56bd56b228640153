// SPDX-License-Identifier: MIT
// The base of strategies that act on each gradient during the backward pass.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_OVERLAP_BASE_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_OVERLAP_BASE_H_

#include <cstddef>
#include <vector>

#include "model/distributed/ddp/gradient_hooks.h"
#include "model/distributed/ddp/gradient_sync.h"

namespace trainbench {

// Handles each gradient once per step. A second gradient before Finish() is an
// error, since the first may be in flight: accumulate micro-batches with a
// strategy that does not overlap.
class OverlapBase : public GradientSync {
 public:
  OverlapBase(std::vector<at::Tensor> parameters, ProcessGroup& group);

 protected:
  // Returns when what OnGradient() started is done.
  virtual void WaitAll() = 0;
  // The gradient of a parameter is complete.
  virtual void OnGradient(std::size_t index) = 0;

 private:
  bool IsComplete(std::size_t index) const final { return heard_[index]; }
  void Average() final;

  std::vector<bool> heard_;
  GradientHooks hooks_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_OVERLAP_BASE_H_
