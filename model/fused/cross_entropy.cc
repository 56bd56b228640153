// SPDX-License-Identifier: MIT

#include "model/fused/cross_entropy.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "model/dry_run/dry_run.h"
#include "model/fused/arguments.h"
#include "model/fused/launch.h"
#include "model/kernels/cross_entropy.h"

namespace trainbench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class CrossEntropyFunction
    : public torch::autograd::Function<CrossEntropyFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& logits,
                            const at::Tensor& targets, bool with_gradient) {
    const at::Tensor gradient = logits.detach();
    const at::Tensor ids = targets.flatten().contiguous();
    const at::Tensor losses =
        at::empty(ids.sizes(), logits.options().dtype(at::kFloat));
    Launch(logits, kernels::CrossEntropyForwardArgs{
                       .dtype = DtypeOf(logits),
                       .rows = ids.numel(),
                       .columns = logits.size(-1),
                       .scale = 1 / static_cast<float>(ids.numel()),
                       .gradient = with_gradient,
                       .targets = ids.const_data_ptr<int64_t>(),
                       .logits = Out(gradient),
                       .losses = losses.data_ptr<float>()});
    RecordKernel("trainbench::cross_entropy", [&] {
      return BytesOf({logits, with_gradient ? gradient : at::Tensor(), losses});
    });
    // Not save_for_backward, which would reject the overwritten logits.
    if (with_gradient) ctx->saved_data["gradient"] = gradient;
    return losses.mean();
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    RefuseSecondDerivative("cross entropy");
    const auto saved = ctx->saved_data.find("gradient");
    TORCH_CHECK(saved != ctx->saved_data.end(),
                "an earlier backward pass has used the fused cross entropy's "
                "gradient; allowed: one pass");
    at::Tensor gradient = saved->second.toTensor();
    ctx->saved_data.clear();
    // The factor is 1 for the gradient of the loss itself.
    if (gradient.is_cuda()) {
      LaunchOnCuda(gradient, kernels::CrossEntropyBackwardArgs{
                                 .dtype = DtypeOf(gradient),
                                 .rows = gradient.numel() / gradient.size(-1),
                                 .columns = gradient.size(-1),
                                 .factor = gradients[0].const_data_ptr<float>(),
                                 .gradient = Out(gradient)});
    } else if (!DryRun::IsOn()) {
      const auto factor = gradients[0].item<double>();
      if (factor != 1) gradient.mul_(gradients[0]);
    }
    return {std::move(gradient), {}, {}};
  }
};

}  // namespace

at::Tensor FusedCrossEntropy(at::Tensor logits, const at::Tensor& targets) {
  TORCH_CHECK(logits.dim() > 0 && logits.is_contiguous() &&
                  logits.sizes().slice(0, logits.dim() - 1) == targets.sizes(),
              "logits are ", logits.sizes(), " and targets ", targets.sizes(),
              "; allowed: contiguous logits [targets..., vocab]");
  TORCH_CHECK(
      targets.scalar_type() == at::kLong && targets.device() == logits.device(),
      "targets are ", targets.scalar_type(), " on ", targets.device(),
      "; allowed: Long on ", logits.device());
  const bool with_gradient =
      at::GradMode::is_enabled() && logits.requires_grad();
  const ProfiledOperator scope("trainbench::cross_entropy");
  return CrossEntropyFunction::apply(logits, targets, with_gradient);
}

}  // namespace trainbench
