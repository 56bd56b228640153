// SPDX-License-Identifier: MIT

#include <ATen/Context.h>
#include <torch/types.h>

#include <cmath>

#include "model/fused/cuda/launch.h"
#include "model/fused/cuda/operations.h"
#include "model/kernels/flash/attention.h"

namespace trainbench {
namespace {

// The kernels read 16 bytes at a time.
at::Tensor Aligned(const at::Tensor& x) {
  const int64_t wide = 16 / static_cast<int64_t>(x.element_size());
  const bool is_aligned = kernels::IsAligned(x.const_data_ptr(), 16) &&
                          kernels::KeepAlignment(StridesOf(x), wide);
  return is_aligned ? x : x.clone(at::MemoryFormat::Contiguous);
}

kernels::HeadInput InputOf(const at::Tensor& x) {
  return {x.const_data_ptr(), StridesOf(x)};
}

kernels::HeadOutput OutputOf(const at::Tensor& x) {
  return {x.data_ptr(), StridesOf(x)};
}

kernels::FlashShape ShapeOf(const FlashInputs& inputs) {
  const at::Tensor& q = inputs.q;
  const int64_t d_head = q.size(3);
  TORCH_CHECK(d_head == 16 || d_head == 32 || d_head == 64 || d_head == 128,
              "heads have dimension ", d_head,
              "; allowed on a GPU: 16, 32, 64, 128");
  return {.dtype = DtypeOf(q),
          .batch = q.size(0),
          .heads = q.size(1),
          .seq = q.size(2),
          .d_head = d_head,
          .causal = true,
          .scale = 1 / std::sqrt(static_cast<float>(d_head))};
}

}  // namespace

FlashResult CudaFlashForward(const FlashInputs& inputs) {
  const at::Tensor q = Aligned(inputs.q), k = Aligned(inputs.k),
                   v = Aligned(inputs.v);
  FlashResult result = FlashResult::EmptyFor(inputs);
  Launch(q, kernels::FlashForwardArgs{
                .shape = ShapeOf(inputs),
                .q = InputOf(q),
                .k = InputOf(k),
                .v = InputOf(v),
                .o = OutputOf(result.output),
                .log_sum = result.log_sum_exp.data_ptr<float>()});
  return result;
}

FlashGradients CudaFlashBackward(const FlashInputs& inputs,
                                 const FlashResult& result,
                                 const at::Tensor& gradient) {
  const at::Tensor q = Aligned(inputs.q), k = Aligned(inputs.k),
                   v = Aligned(inputs.v), g = Aligned(gradient);
  FlashGradients to = FlashGradients::EmptyFor({q, k, v});
  const at::TensorOptions sums = q.options().dtype(at::kFloat);
  const at::Tensor delta = at::empty(result.log_sum_exp.sizes(), sums);
  at::Tensor q_sum;
  if (!at::globalContext().deterministicAlgorithms()) {
    q_sum = at::empty(q.sizes(), sums);
  }
  Launch(q, kernels::FlashBackwardArgs{
                .shape = ShapeOf(inputs),
                .q = InputOf(q),
                .k = InputOf(k),
                .v = InputOf(v),
                .o = InputOf(result.output),
                .log_sum = result.log_sum_exp.const_data_ptr<float>(),
                .grad_o = InputOf(g),
                .grad_q = OutputOf(to.q),
                .grad_k = OutputOf(to.k),
                .grad_v = OutputOf(to.v),
                .delta = delta.data_ptr<float>(),
                .grad_q_sum =
                    q_sum.defined() ? q_sum.data_ptr<float>() : nullptr});
  return to;
}

}  // namespace trainbench
