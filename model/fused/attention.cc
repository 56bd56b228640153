// SPDX-License-Identifier: MIT

#include "model/fused/attention.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <algorithm>

#include "model/dry_run/dry_run.h"
#include "model/fused/arguments.h"
#include "model/fused/cpu/operations.h"
#include "model/fused/cuda/operations.h"

namespace trainbench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Reports products that no LibTorch operator computes to a dry run.
// other_bytes() is the size of the other tensors that are read or written.
template <typename Bytes>
void RecordAttention(const FlashInputs& inputs, int products,
                     const Bytes& other_bytes) {
  if (!DryRun::IsOn()) return;
  const double flops = 2.0 * products * static_cast<double>(inputs.q.numel()) *
                       static_cast<double>(inputs.k.size(-2));
  // At most one matrix of scores per thread.
  const int64_t rows = inputs.q.size(-2);
  const int64_t matrices = std::min<int64_t>(
      inputs.q.size(0) * inputs.q.size(1), at::get_num_threads());
  DryRun::Record(
      {.name = "trainbench::attention",
       .flops = flops,
       .bytes = BytesOf({inputs.q, inputs.k, inputs.v}) + other_bytes(),
       .by_onednn =
           inputs.q.is_cpu() && inputs.q.scalar_type() == at::kBFloat16,
       .result_elements = matrices * rows * std::max(rows, inputs.q.size(-1))});
}

class AttentionFunction : public torch::autograd::Function<AttentionFunction> {
 public:
  // All tensors are [batch, heads, seq, d_head].
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& q,
                            const at::Tensor& k, const at::Tensor& v) {
    const FlashInputs inputs = {WithRows(q), WithRows(k), WithRows(v)};
    const FlashResult result = IsOnCpu(q, "attention")
                                   ? CpuFlashForward(inputs)
                                   : CudaFlashForward(inputs);
    RecordAttention(inputs, 2, [&] {
      return BytesOf({result.output, result.log_sum_exp});
    });
    ctx->save_for_backward(
        {inputs.q, inputs.k, inputs.v, result.output, result.log_sum_exp});
    return result.output;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    RefuseSecondDerivative("attention");
    const variable_list saved = ctx->get_saved_variables();
    const FlashInputs inputs = {saved[0], saved[1], saved[2]};
    const FlashResult forward = {saved[3], saved[4]};
    const at::Tensor gradient = WithRows(gradients[0]);
    const FlashGradients result =
        gradient.is_cpu() ? CpuFlashBackward(inputs, forward, gradient)
                          : CudaFlashBackward(inputs, forward, gradient);
    // The scores again, and four gradients.
    RecordAttention(inputs, 5, [&] {
      return BytesOf({gradient, forward.output, forward.log_sum_exp, result.q,
                      result.k, result.v});
    });
    return {result.q, result.k, result.v};
  }
};

// [..., seq, d_head] -> [batch, heads, seq, d_head].
at::Tensor WithHeads(const at::Tensor& x) {
  return x.dim() == 4 ? x : x.reshape({-1, 1, x.size(-2), x.size(-1)});
}

}  // namespace

at::Tensor FusedAttention(const at::Tensor& q, const at::Tensor& k,
                          const at::Tensor& v) {
  TORCH_CHECK(q.dim() >= 2 && q.numel() > 0 && q.sizes() == k.sizes() &&
                  q.sizes() == v.sizes(),
              "q, k and v are ", q.sizes(), ", ", k.sizes(), " and ", v.sizes(),
              "; allowed: the same [..., seq, d_head], not empty");
  const at::ScalarType type = q.scalar_type();
  TORCH_CHECK((type == at::kFloat || type == at::kBFloat16) &&
                  k.scalar_type() == type && v.scalar_type() == type,
              "q, k and v are ", type, ", ", k.scalar_type(), " and ",
              v.scalar_type(), "; allowed: all Float or all BFloat16");
  const at::Tensor heads[] = {WithHeads(q), WithHeads(k), WithHeads(v)};
  const ProfiledOperator scope("trainbench::attention", {heads[0]});
  return AttentionFunction::apply(heads[0], heads[1], heads[2])
      .reshape(q.sizes());
}

}  // namespace trainbench
