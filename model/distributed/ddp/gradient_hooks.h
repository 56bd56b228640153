// SPDX-License-Identifier: MIT
// Tells when the backward pass has completed a gradient.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_HOOKS_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_HOOKS_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace trainbench {

// Calls `on_gradient(i)` when the gradient of parameters[i] is there, all its
// uses added up; on autograd's thread of the device, with gradients off. What
// it throws comes out of backward(). The hooks go with the object.
class GradientHooks {
 public:
  using Callback = std::function<void(std::size_t index)>;

  // Throws c10::Error if a parameter has such a hook already: it can have one.
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
