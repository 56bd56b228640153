// SPDX-License-Identifier: MIT
// Callbacks for gradients that the backward pass has completed.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_HOOKS_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_HOOKS_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace trainbench {

// Calls `on_gradient(i)` when the gradient of parameters[i] is complete, on
// autograd's thread of the device, with gradients off. Its exceptions come out
// of backward(). The destructor removes the hooks.
class GradientHooks {
 public:
  using Callback = std::function<void(std::size_t index)>;

  // Throws c10::Error if a parameter already has such a hook: only one is
  // possible.
  GradientHooks(std::vector<at::Tensor> parameters, Callback on_gradient);
  ~GradientHooks();
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;

 private:
  std::vector<at::Tensor> parameters_;
  Callback on_gradient_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_HOOKS_H_
