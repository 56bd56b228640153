// SPDX-License-Identifier: MIT

#include "model/fused/attention.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "model/dry_run/dry_run.h"
#include "model/fused/arguments.h"
#include "model/fused/launch.h"
#include "model/kernels/flash/attention.h"

namespace trainbench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Inputs {
  at::Tensor q, k, v;
};

// Reports products that no LibTorch operator computes to a dry run.
// other_bytes() is the size of the other tensors that are read or written.
template <typename Bytes>
void RecordAttention(const char* name, const Inputs& inputs, int products,
                     const Bytes& other_bytes) {
  if (!DryRun::IsOn()) return;
  const double flops = 2.0 * products * static_cast<double>(inputs.q.numel()) *
                       static_cast<double>(inputs.k.size(-2));
  // At most one matrix of scores per thread.
  const int64_t rows = inputs.q.size(-2);
  const int64_t matrices = std::min<int64_t>(
      inputs.q.size(0) * inputs.q.size(1), at::get_num_threads());
  DryRun::Record(
      {.name = name,
       .flops = flops,
       .bytes = BytesOf({inputs.q, inputs.k, inputs.v}) + other_bytes(),
       .by_onednn =
           inputs.q.is_cpu() && inputs.q.scalar_type() == at::kBFloat16,
       .result_elements = matrices * rows * std::max(rows, inputs.q.size(-1))});
}

// The CUDA kernels read 16 bytes at a time.
at::Tensor Aligned(const at::Tensor& x) {
  const int64_t wide = 16 / static_cast<int64_t>(x.element_size());
  const bool is_aligned = kernels::IsAligned(x.const_data_ptr(), 16) &&
                          kernels::KeepAlignment(StridesOf(x), wide);
  return x.is_cpu() || is_aligned ? x : x.clone(at::MemoryFormat::Contiguous);
}

Inputs Aligned(const Inputs& inputs) {
  return {Aligned(inputs.q), Aligned(inputs.k), Aligned(inputs.v)};
}

kernels::HeadInput InputOf(const at::Tensor& x) {
  return {In(x), StridesOf(x)};
}

kernels::HeadOutput OutputOf(const at::Tensor& x) {
  return {Out(x), StridesOf(x)};
}

kernels::FlashShape ShapeOf(const at::Tensor& q) {
  const int64_t d_head = q.size(3);
  TORCH_CHECK(q.is_cpu() || kernels::IsFlashHead(d_head),
              "heads have dimension ", d_head,
              "; allowed on a GPU: 16, 32, 64, above it multiples of 8 up to ",
              kernels::kWidestHead);
  return {.dtype = DtypeOf(q),
          .batch = q.size(0),
          .heads = q.size(1),
          .seq = q.size(2),
          .d_head = d_head,
          .causal = true,
          .scale = 1 / std::sqrt(static_cast<float>(d_head))};
}

class AttentionFunction : public torch::autograd::Function<AttentionFunction> {
 public:
  // All tensors are [batch, heads, seq, d_head].
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& q,
                            const at::Tensor& k, const at::Tensor& v) {
    const Inputs inputs = {WithRows(q), WithRows(k), WithRows(v)};
    const Inputs aligned = Aligned(inputs);
    // Laid out as [batch, seq, heads, d_head], so that merging the heads needs
    // no copy.
    const at::Tensor output =
        at::empty({q.size(0), q.size(2), q.size(1), q.size(3)}, q.options())
            .transpose(1, 2);
    const at::Tensor log_sum = at::empty({q.size(0), q.size(1), q.size(2)},
                                         q.options().dtype(at::kFloat));
    Launch(q, kernels::FlashForwardArgs{.shape = ShapeOf(q),
                                        .q = InputOf(aligned.q),
                                        .k = InputOf(aligned.k),
                                        .v = InputOf(aligned.v),
                                        .o = OutputOf(output),
                                        .log_sum = log_sum.data_ptr<float>()});
    RecordAttention("trainbench::attention", inputs, 2, [&] {
      return BytesOf({output, log_sum});
    });
    ctx->save_for_backward({inputs.q, inputs.k, inputs.v, output, log_sum});
    return output;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    RefuseSecondDerivative("attention");
    const variable_list saved = ctx->get_saved_variables();
    const Inputs inputs = {saved[0], saved[1], saved[2]};
    const at::Tensor &output = saved[3], &log_sum = saved[4];
    const at::Tensor gradient = WithRows(gradients[0]);
    const auto [q, k, v] = Aligned(inputs);
    const at::Tensor of_output = Aligned(gradient);
    const at::Tensor of_q = at::empty_like(q), of_k = at::empty_like(k),
                     of_v = at::empty_like(v);
    const at::TensorOptions sums = q.options().dtype(at::kFloat);
    const at::Tensor delta = at::empty(log_sum.sizes(), sums);
    at::Tensor of_q_sum;
    if (q.is_cuda()) {
      at::globalContext().alertNotDeterministic("trainbench::attention");
      of_q_sum = at::empty(q.sizes(), sums);
    }
    Launch(q, kernels::FlashBackwardArgs{
                  .shape = ShapeOf(q),
                  .q = InputOf(q),
                  .k = InputOf(k),
                  .v = InputOf(v),
                  .o = InputOf(output),
                  .log_sum = log_sum.const_data_ptr<float>(),
                  .grad_o = InputOf(of_output),
                  .grad_q = OutputOf(of_q),
                  .grad_k = OutputOf(of_k),
                  .grad_v = OutputOf(of_v),
                  .delta = delta.data_ptr<float>(),
                  .grad_q_sum = static_cast<float*>(Out(of_q_sum))});
    // The scores again, and four gradients.
    RecordAttention("trainbench::attention_backward", inputs, 5, [&] {
      return BytesOf({gradient, output, log_sum, of_q, of_k, of_v});
    });
    return {of_q, of_k, of_v};
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
