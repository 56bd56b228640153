// SPDX-License-Identifier: MIT

#include "model/training/adamw.h"

#include <torch/types.h>

#include <cmath>
#include <utility>

#include "model/nn/component.h"

namespace trainbench {

AdamW::AdamW(std::vector<at::Tensor> parameters, AdamWKind kind,
             const AdamWOptions& options)
    : parameters_(std::move(parameters)), kind_(kind), options_(options) {
  const ComponentScope scope(Component::kOptimizer);
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : parameters_) {
    first_moments_.push_back(at::zeros_like(parameter));
    second_moments_.push_back(at::zeros_like(parameter));
    if (kind_ == AdamWKind::kFused) {
      device_steps_.push_back(at::zeros(
          {}, parameter.options().dtype(at::kFloat).requires_grad(false)));
    } else {
      host_steps_.push_back(0);
    }
  }
}

void AdamW::Step() {
  const ComponentScope scope(Component::kOptimizer);
  const at::NoGradGuard no_grad;
  if (kind_ == AdamWKind::kFused) return StepFused();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].grad().defined()) StepTextbook(i);
  }
}

std::vector<at::Tensor> AdamW::State() const {
  std::vector<at::Tensor> all = first_moments_;
  all.insert(all.end(), second_moments_.begin(), second_moments_.end());
  all.insert(all.end(), device_steps_.begin(), device_steps_.end());
  return all;
}

int64_t AdamW::StateBytes() const {
  std::size_t bytes = 0;
  for (const at::Tensor& tensor : State()) bytes += tensor.nbytes();
  return static_cast<int64_t>(bytes);
}

void AdamW::StepTextbook(std::size_t i) {
  const at::Tensor& parameter = parameters_[i];
  const at::Tensor& gradient = parameter.grad();
  at::Tensor& m = first_moments_[i];
  at::Tensor& v = second_moments_[i];
  const auto step = static_cast<double>(++host_steps_[i]);
  const double correction1 = 1 - std::pow(options_.beta1, step);
  const double correction2 = 1 - std::pow(options_.beta2, step);

  parameter.mul_(1 - options_.lr * options_.weight_decay);
  m.mul_(options_.beta1).add_(gradient, 1 - options_.beta1);
  v.mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
  const at::Tensor denominator =
      v.sqrt().div_(std::sqrt(correction2)).add_(options_.eps);
  parameter.addcdiv_(m, denominator, -options_.lr / correction1);
}

void AdamW::StepFused() {
  std::vector<at::Tensor> parameters, gradients, first, second, steps;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].grad().defined()) continue;
    parameters.push_back(parameters_[i]);
    gradients.push_back(parameters_[i].grad());
    first.push_back(first_moments_[i]);
    second.push_back(second_moments_[i]);
    steps.push_back(device_steps_[i]);
  }
  if (parameters.empty()) return;
  // The kernel expects the number of the current step.
  at::_foreach_add_(steps, 1);
  at::_fused_adamw_(parameters, gradients, first, second,
                    /*max_exp_avg_sqs=*/{}, steps, options_.lr, options_.beta1,
                    options_.beta2, options_.weight_decay, options_.eps,
                    /*amsgrad=*/false, /*maximize=*/false);
}

}  // namespace trainbench
