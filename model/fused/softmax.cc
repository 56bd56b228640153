// SPDX-License-Identifier: MIT

#include "model/fused/softmax.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "model/fused/arguments.h"
#include "model/fused/launch.h"
#include "model/kernels/softmax.h"

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
    const int64_t seq = weights.size(-1);
    Launch(weights, kernels::SoftmaxForwardArgs{
                        .dtype = DtypeOf(weights),
                        .matrices = weights.numel() / (seq * seq),
                        .seq = seq,
                        .scale = static_cast<float>(scale),
                        .x = In(weights),
                        .p = Out(weights)});
    RecordKernel("trainbench::causal_softmax", [&] {
      return BytesOf({weights, weights});
    });
    ctx->save_for_backward({weights});
    ctx->saved_data["scale"] = scale;
    return weights;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    RefuseSecondDerivative("softmax");
    const at::Tensor weights = ctx->get_saved_variables()[0];
    const at::Tensor gradient = gradients[0].contiguous();
    const at::Tensor result = at::empty_like(weights);
    const int64_t seq = weights.size(-1);
    const auto scale = static_cast<float>(ctx->saved_data["scale"].toDouble());
    Launch(weights, kernels::SoftmaxBackwardArgs{
                        .dtype = DtypeOf(weights),
                        .matrices = weights.numel() / (seq * seq),
                        .seq = seq,
                        .scale = scale,
                        .p = In(weights),
                        .grad_p = In(gradient),
                        .grad_x = Out(result)});
    RecordKernel("trainbench::causal_softmax_backward", [&] {
      return BytesOf({gradients[0], weights, result});
    });
    return {result, {}};
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
