// SPDX-License-Identifier: MIT
// Base of the strategies that handle each gradient during the backward pass.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_OVERLAP_BASE_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_OVERLAP_BASE_H_

#include <cstddef>
#include <vector>

#include "model/distributed/ddp/gradient_hooks.h"
#include "model/distributed/ddp/gradient_sync.h"

namespace trainbench {

// Handles each gradient once per step. A second gradient before Finish() is an
// error, since the first may be in flight. To accumulate micro-batches, use a
// strategy that does not overlap.
class OverlapBase : public GradientSync {
 public:
  OverlapBase(std::vector<at::Tensor> parameters, ProcessGroup& group);

 protected:
  // Waits for everything that OnGradient() started.
  virtual void WaitAll() = 0;
  // Called when the gradient of a parameter is complete.
  virtual void OnGradient(std::size_t index) = 0;

 private:
  bool IsComplete(std::size_t index) const final { return heard_[index]; }
  void Average() final;

  std::vector<bool> heard_;
  GradientHooks hooks_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_OVERLAP_BASE_H_
