// SPDX-License-Identifier: MIT

#include "model/fused/softmax.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "model/fused/arguments.h"
#include "model/fused/cpu/operations.h"
#include "model/fused/cuda/operations.h"

namespace trainbench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class CausalSoftmaxFunction
    : public torch::autograd::Function<CausalSoftmaxFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& scores,
                            double scale) {
    at::Tensor weights = scores.detach();
    const auto replace = IsOnCpu(scores, "softmax") ? CausalSoftmaxInPlaceCpu
                                                    : CausalSoftmaxInPlaceCuda;
    replace(weights, scale);
    RecordKernel("trainbench::causal_softmax", [&] {
      return BytesOf({weights, weights});
    });
    ctx->save_for_backward({weights});
    ctx->saved_data["scale"] = scale;
    return weights;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    RefuseSecondDerivative("softmax");
    const auto compute = IsOnCpu(gradients[0], "softmax")
                             ? CausalSoftmaxBackwardCpu
                             : CausalSoftmaxBackwardCuda;
    const at::Tensor weights = ctx->get_saved_variables()[0];
    const at::Tensor gradient = compute(gradients[0].contiguous(), weights,
                                        ctx->saved_data["scale"].toDouble());
    RecordKernel("trainbench::causal_softmax_backward", [&] {
      return BytesOf({gradients[0], weights, gradient});
    });
    return {gradient, {}};
  }
};

}  // namespace

at::Tensor CausalSoftmax(at::Tensor scores, double scale) {
  TORCH_CHECK(scores.dim() >= 2 && scores.numel() > 0 &&
                  scores.is_contiguous() && scores.size(-1) == scores.size(-2),
              "scores are ", scores.sizes(),
              "; allowed: [..., seq, seq], contiguous, not empty");
  const ProfiledOperator scope("trainbench::causal_softmax");
  return CausalSoftmaxFunction::apply(scores, scale);
}

}  // namespace trainbench
