// SPDX-License-Identifier: MIT

#include "model/fused/rms_norm.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "model/fused/arguments.h"
#include "model/fused/launch.h"
#include "model/kernels/rms_norm.h"
#include "model/spec/implementation.h"

namespace trainbench {
namespace {

static_assert(kMostFusedGpuWidth == kernels::kRmsNormMaxColumns,
              "the limit for steps must be the limit for norms");

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class RmsNormFunction : public torch::autograd::Function<RmsNormFunction> {
 public:
  static variable_list forward(AutogradContext* ctx, const at::Tensor& residual,
                               const std::optional<at::Tensor>& update,
                               const at::Tensor& weight, double eps,
                               at::ScalarType normed) {
    const int64_t columns = weight.numel();
    const at::Tensor x = residual.contiguous();
    const at::Tensor sum = update ? at::empty_like(x) : at::Tensor();
    const at::Tensor y = at::empty(x.sizes(), x.options().dtype(normed));
    const at::Tensor inverse_rms =
        at::empty({x.numel() / columns}, x.options().dtype(at::kFloat));
    const at::Tensor added = update ? update->contiguous() : at::Tensor();
    Launch(x, kernels::RmsNormForwardArgs{
                  .stream = DtypeOf(x),
                  .branch = DtypeOf(y),
                  .rows = inverse_rms.numel(),
                  .columns = columns,
                  .epsilon = static_cast<float>(eps),
                  .x = In(x),
                  .update = In(added),
                  .weight = In(weight),
                  .sum = Out(sum),
                  .y = Out(y),
                  .inverse_rms = inverse_rms.data_ptr<float>()});
    RecordKernel("trainbench::add_rms_norm", [&] {
      return BytesOf({x, added, weight, sum, y, inverse_rms});
    });
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({update ? sum : x, inverse_rms, weight});
    ctx->saved_data["has_update"] = update.has_value();
    return {update ? sum : x, y};
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    RefuseSecondDerivative("norm");
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &sum = saved[0], &inverse_rms = saved[1],
                     &weight = saved[2];
    const bool has_update = ctx->saved_data["has_update"].toBool();
    TORCH_CHECK(gradients[1].defined(),
                "the output of the fused norm has no gradient");
    const at::Tensor of_sum =
        gradients[0].defined() ? gradients[0].contiguous() : at::Tensor();
    const at::Tensor of_normed = gradients[1].contiguous();
    const bool is_apart =
        has_update && of_normed.scalar_type() != sum.scalar_type();
    const at::Tensor of_x = at::empty_like(sum);
    at::Tensor of_update, of_weight;
    if (is_apart) of_update = at::empty(sum.sizes(), of_normed.options());
    const int64_t rows = inverse_rms.numel(), columns = weight.numel();
    const at::TensorOptions sums = weight.options().dtype(at::kFloat);
    const at::Tensor partial =
        sum.is_cpu()
            ? at::zeros({CpuNormParts(rows), columns}, sums)
            : at::empty({kernels::RmsNormPartials(rows), columns}, sums);
    if (!sum.is_cpu()) of_weight = at::empty_like(weight);
    Launch(sum, kernels::RmsNormBackwardArgs{
                    .stream = DtypeOf(sum),
                    .branch = DtypeOf(of_normed),
                    .rows = rows,
                    .columns = columns,
                    .sum = In(sum),
                    .weight = In(weight),
                    .inverse_rms = inverse_rms.const_data_ptr<float>(),
                    .grad_y = In(of_normed),
                    .grad_sum = In(of_sum),
                    .grad_x = Out(of_x),
                    .grad_update = Out(of_update),
                    .grad_weight = Out(of_weight),
                    .partial = partial.data_ptr<float>()});
    if (sum.is_cpu()) of_weight = partial.sum(0).to(weight.scalar_type());
    RecordKernel("trainbench::add_rms_norm_backward", [&] {
      return BytesOf(
          {of_sum, of_normed, sum, inverse_rms, weight, of_x, of_update});
    });
    if (has_update && !is_apart) of_update = of_x;
    return {of_x, of_update, of_weight, {}, {}};
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
  TORCH_CHECK(residual.is_cpu() || weight.numel() <= kMostFusedGpuWidth,
              "a norm has ", weight.numel(),
              " columns; allowed on a GPU: at most ", kMostFusedGpuWidth);
  const std::optional<at::Tensor> added =
      update.defined() ? std::optional(update) : std::nullopt;
  const ProfiledOperator scope("trainbench::add_rms_norm");
  variable_list result =
      RmsNormFunction::apply(residual, added, weight, eps, normed);
  return {std::move(result[0]), std::move(result[1])};
}

}  // namespace trainbench
