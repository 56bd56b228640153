// SPDX-License-Identifier: MIT

#include "model/fused/rms_norm.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "model/fused/arguments.h"
#include "model/fused/cpu/operations.h"
#include "model/fused/cuda/operations.h"

namespace trainbench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class RmsNormFunction : public torch::autograd::Function<RmsNormFunction> {
 public:
  static variable_list forward(AutogradContext* ctx, const at::Tensor& residual,
                               const std::optional<at::Tensor>& update,
                               const at::Tensor& weight, double eps,
                               at::ScalarType normed) {
    const auto compute =
        IsOnCpu(residual, "norm") ? AddRmsNormCpu : AddRmsNormCuda;
    const at::Tensor x = residual.contiguous();
    const FusedNormResult result = {
        update ? at::empty_like(x) : x,
        at::empty(x.sizes(), x.options().dtype(normed)),
        at::empty({x.numel() / weight.numel()}, x.options().dtype(at::kFloat))};
    compute(x, update ? update->contiguous() : at::Tensor(), weight, eps,
            result);
    RecordKernel("trainbench::add_rms_norm", [&] {
      return BytesOf({residual, update.value_or(at::Tensor()), weight,
                      update ? result.sum : at::Tensor(), result.normed,
                      result.inverse_rms});
    });
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({result.sum, result.inverse_rms, weight});
    ctx->saved_data["has_update"] = update.has_value();
    return {result.sum, result.normed};
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    RefuseSecondDerivative("norm");
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor& sum = saved[0];
    const at::Tensor& of_sum = gradients[0];
    const at::Tensor& of_normed = gradients[1];
    const bool has_update = ctx->saved_data["has_update"].toBool();
    TORCH_CHECK(of_normed.defined(),
                "the output of the fused norm has no gradient");
    const auto compute = IsOnCpu(of_normed, "norm") ? AddRmsNormBackwardCpu
                                                    : AddRmsNormBackwardCuda;
    const bool is_apart =
        has_update && of_normed.scalar_type() != sum.scalar_type();
    NormGradients result;
    result.residual = at::empty_like(sum);
    if (is_apart) result.update = at::empty(sum.sizes(), of_normed.options());
    compute(of_sum.defined() ? of_sum.contiguous() : of_sum,
            of_normed.contiguous(), sum, saved[1], saved[2], result);
    RecordKernel("trainbench::add_rms_norm_backward", [&] {
      return BytesOf({of_sum, of_normed, sum, saved[1], saved[2],
                      result.residual, result.update});
    });
    const at::Tensor& of_update =
        has_update && !is_apart ? result.residual : result.update;
    return {result.residual, of_update, result.weight, {}, {}};
  }
};

}  // namespace

AddedAndNormed AddRmsNorm(const at::Tensor& residual, const at::Tensor& update,
                          const at::Tensor& weight, double eps) {
  const at::ScalarType normed =
      ProductType(residual.scalar_type(), residual.device());
  TORCH_CHECK(weight.dim() == 1 && weight.numel() > 0 &&
                  weight.is_contiguous() &&
                  weight.scalar_type() == residual.scalar_type() &&
                  residual.dim() > 0 && weight.size(0) == residual.size(-1),
              "the weight is ", weight.toString(), weight.sizes(),
              " and the residual ", residual.toString(), residual.sizes(),
              "; allowed: the same dtype, contiguous, [the last size]");
  TORCH_CHECK(!update.defined() || (update.scalar_type() == normed &&
                                    update.sizes() == residual.sizes()),
              "the update is ", update.toString(), update.sizes(),
              "; allowed: ", normed, residual.sizes());
  const std::optional<at::Tensor> added =
      update.defined() ? std::optional(update) : std::nullopt;
  const ProfiledOperator scope("trainbench::add_rms_norm");
  variable_list result =
      RmsNormFunction::apply(residual, added, weight, eps, normed);
  return {std::move(result[0]), std::move(result[1])};
}

}  // namespace trainbench
