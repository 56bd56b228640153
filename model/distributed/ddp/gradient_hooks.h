// SPDX-License-Identifier: MIT
// Callbacks when the backward pass has completed a gradient.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_HOOKS_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_HOOKS_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace trainbench {

// Calls `on_gradient(i)` when the gradient of parameters[i] is complete, on
// autograd's thread for the device, with gradients disabled. backward()
// rethrows its exceptions. The destructor removes the hooks.
class GradientHooks {
 public:
  using Callback = std::function<void(std::size_t index)>;

  // Throws c10::Error if a parameter already has such a hook, as LibTorch
  // allows only one.
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
