// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/gradient_hooks.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <memory>
#include <utility>

namespace trainbench {
namespace {

namespace autograd = torch::autograd;

class Hook final : public autograd::PostAccumulateGradHook {
 public:
  Hook(const GradientHooks::Callback& on_gradient, std::size_t index)
      : on_gradient_(on_gradient), index_(index) {}
  void operator()(const autograd::Variable&) override { on_gradient_(index_); }

 private:
  const GradientHooks::Callback& on_gradient_;
  std::size_t index_;
};

}  // namespace

GradientHooks::GradientHooks(std::vector<at::Tensor> parameters,
                             Callback on_gradient)
    : parameters_(std::move(parameters)), on_gradient_(std::move(on_gradient)) {
  // Check all parameters before setting any hook: a constructor that throws
  // could not remove the hooks.
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    TORCH_CHECK(autograd::impl::post_acc_grad_hooks(parameters_[i]) == nullptr,
                "parameter ", i, " ", parameters_[i].sizes(),
                " has a hook on its gradient already");
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    autograd::impl::set_post_acc_grad_hooks(
        parameters_[i], std::make_unique<Hook>(on_gradient_, i));
  }
}

GradientHooks::~GradientHooks() {
  for (const at::Tensor& parameter : parameters_) {
    autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
  }
}

}  // namespace trainbench
