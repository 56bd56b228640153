// SPDX-License-Identifier: MIT

#include "model/fused/cuda/operations.h"

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <vector>

#include "model/fused/cuda/launch.h"
#include "model/kernels/cross_entropy.h"
#include "model/kernels/rms_norm.h"
#include "model/kernels/rope.h"
#include "model/kernels/softmax.h"
#include "model/kernels/swiglu.h"
#include "model/spec/implementation.h"

namespace trainbench {
namespace {

static_assert(kMostFusedGpuWidth == kernels::kRmsNormMaxColumns,
              "the limit for steps must be the limit for norms");

const void* In(const at::Tensor& x) {
  return x.defined() ? x.const_data_ptr() : nullptr;
}

// A null pointer for an undefined tensor.
void* Out(const at::Tensor& x) { return x.defined() ? x.data_ptr() : nullptr; }

// Pointer to the elements that start `bytes` after `start`.
template <typename Pointer>
Pointer After(Pointer start, int64_t bytes) {
  using Byte =
      std::conditional_t<std::is_same_v<Pointer, void*>, char, const char>;
  return static_cast<Byte*>(start) + bytes;
}

// Arguments for one tensor, [batch, heads, seq, d_head].
kernels::RopeArgs RopeArgsOf(const at::Tensor& from, const at::Tensor& to,
                             const at::Tensor& cos, const at::Tensor& sin,
                             bool backward) {
  return {.dtype = DtypeOf(from),
          .batch = from.size(0),
          .heads = from.size(1),
          .seq = from.size(2),
          .d_head = from.size(3),
          .backward = backward,
          .cos = cos.const_data_ptr<float>(),
          .sin = sin.const_data_ptr<float>(),
          .from = {from.const_data_ptr(), nullptr},
          .to = {to.data_ptr(), nullptr},
          .from_strides = StridesOf(from),
          .to_strides = StridesOf(to),
          .tensors = 1};
}

// Rotates queries and keys, in one launch if they have equally many heads.
void Rotate(const std::array<at::Tensor, 2>& from,
            const std::array<at::Tensor, 2>& to, const at::Tensor& cos,
            const at::Tensor& sin, bool backward) {
  kernels::RopeArgs args = RopeArgsOf(from[0], to[0], cos, sin, backward);
  if (from[0].size(1) == from[1].size(1)) {
    args.tensors = 2;
    args.from[1] = from[1].const_data_ptr();
    args.to[1] = to[1].data_ptr();
  } else {
    Launch(from[1], RopeArgsOf(from[1], to[1], cos, sin, backward));
  }
  Launch(from[0], args);
}

// Takes heads of [batch, seq, heads, d_head] -> [batch, count, seq, d_head].
at::Tensor Part(const at::Tensor& qkv, int64_t first, int64_t count) {
  return qkv.narrow(2, first, count).transpose(1, 2);
}

}  // namespace

void AddRmsNormCuda(const at::Tensor& residual, const at::Tensor& update,
                    const at::Tensor& weight, double eps,
                    const FusedNormResult& to) {
  TORCH_CHECK(weight.numel() <= kernels::kRmsNormMaxColumns, "a norm has ",
              weight.numel(), " columns; allowed on a GPU: at most ",
              kernels::kRmsNormMaxColumns);
  Launch(residual, kernels::RmsNormForwardArgs{
                       .stream = DtypeOf(residual),
                       .branch = DtypeOf(to.normed),
                       .rows = to.inverse_rms.numel(),
                       .columns = weight.numel(),
                       .epsilon = static_cast<float>(eps),
                       .x = In(residual),
                       .update = In(update),
                       .weight = In(weight),
                       .sum = update.defined() ? Out(to.sum) : nullptr,
                       .y = Out(to.normed),
                       .inverse_rms = to.inverse_rms.data_ptr<float>()});
}

void AddRmsNormBackwardCuda(const at::Tensor& sum_gradient,
                            const at::Tensor& normed_gradient,
                            const at::Tensor& sum,
                            const at::Tensor& inverse_rms,
                            const at::Tensor& weight, NormGradients& to) {
  const int64_t rows = inverse_rms.numel(), columns = weight.numel();
  const at::Tensor partial =
      at::empty({kernels::RmsNormPartials(rows), columns},
                weight.options().dtype(at::kFloat));
  to.weight = at::empty_like(weight);
  Launch(sum, kernels::RmsNormBackwardArgs{
                  .stream = DtypeOf(sum),
                  .branch = DtypeOf(normed_gradient),
                  .rows = rows,
                  .columns = columns,
                  .sum = In(sum),
                  .weight = In(weight),
                  .inverse_rms = inverse_rms.const_data_ptr<float>(),
                  .grad_y = In(normed_gradient),
                  .grad_sum = In(sum_gradient),
                  .grad_x = Out(to.residual),
                  .grad_update = Out(to.update),
                  .grad_weight = Out(to.weight),
                  .partial = partial.data_ptr<float>()});
}

void RotateInPlaceCuda(const at::Tensor& qkv, int64_t heads,
                       const at::Tensor& cos, const at::Tensor& sin) {
  const int64_t kv_heads = (qkv.size(2) - heads) / 2;
  const at::Tensor q = Part(qkv, 0, heads), k = Part(qkv, heads, kv_heads);
  Rotate({q, k}, {q, k}, cos, sin, /*backward=*/false);
}

at::Tensor RotateBackCuda(const std::array<at::Tensor, 3>& gradients,
                          const at::Tensor& cos, const at::Tensor& sin) {
  at::Tensor q = gradients[0], k = gradients[1];
  const int64_t heads = q.size(1), kv_heads = k.size(1);
  if (heads == kv_heads && q.strides() != k.strides()) {
    q = q.contiguous();
    k = k.contiguous();
  }
  at::Tensor result = at::empty(
      {q.size(0), q.size(2), heads + 2 * kv_heads, q.size(3)}, q.options());
  Rotate({q, k}, {Part(result, 0, heads), Part(result, heads, kv_heads)}, cos,
         sin, /*backward=*/true);
  Part(result, heads + kv_heads, kv_heads).copy_(gradients[2]);
  return result;
}

at::Tensor SwigluCuda(const at::Tensor& gate_value) {
  const int64_t d_ff = gate_value.size(-1) / 2;
  std::vector<int64_t> sizes = gate_value.sizes().vec();
  sizes.back() = d_ff;
  at::Tensor result = at::empty(sizes, gate_value.options());
  const auto half = static_cast<int64_t>(gate_value.element_size()) * d_ff;
  Launch(gate_value,
         kernels::SwigluForwardArgs{.dtype = DtypeOf(gate_value),
                                    .rows = result.numel() / d_ff,
                                    .columns = d_ff,
                                    .input_stride = 2 * d_ff,
                                    .gate = In(gate_value),
                                    .up = After(In(gate_value), half),
                                    .y = Out(result)});
  return result;
}

at::Tensor SwigluBackwardCuda(const at::Tensor& gradient,
                              const at::Tensor& gate_value) {
  const int64_t d_ff = gradient.size(-1);
  at::Tensor result = at::empty_like(gate_value);
  const auto half = static_cast<int64_t>(gate_value.element_size()) * d_ff;
  Launch(gate_value,
         kernels::SwigluBackwardArgs{.dtype = DtypeOf(gate_value),
                                     .rows = gradient.numel() / d_ff,
                                     .columns = d_ff,
                                     .input_stride = 2 * d_ff,
                                     .gate = In(gate_value),
                                     .up = After(In(gate_value), half),
                                     .grad_y = In(gradient),
                                     .grad_gate = Out(result),
                                     .grad_up = After(Out(result), half)});
  return result;
}

void CausalSoftmaxInPlaceCuda(const at::Tensor& scores, double scale) {
  const int64_t seq = scores.size(-1);
  Launch(scores,
         kernels::SoftmaxForwardArgs{.dtype = DtypeOf(scores),
                                     .matrices = scores.numel() / (seq * seq),
                                     .seq = seq,
                                     .causal = true,
                                     .scale = static_cast<float>(scale),
                                     .x = In(scores),
                                     .p = Out(scores)});
}

at::Tensor CausalSoftmaxBackwardCuda(const at::Tensor& gradient,
                                     const at::Tensor& weights, double scale) {
  const int64_t seq = weights.size(-1);
  at::Tensor result = at::empty_like(weights);
  Launch(weights,
         kernels::SoftmaxBackwardArgs{.dtype = DtypeOf(weights),
                                      .matrices = weights.numel() / (seq * seq),
                                      .seq = seq,
                                      .causal = true,
                                      .scale = static_cast<float>(scale),
                                      .p = In(weights),
                                      .grad_p = In(gradient),
                                      .grad_x = Out(result)});
  return result;
}

at::Tensor CrossEntropyInPlaceCuda(const at::Tensor& logits,
                                   const at::Tensor& targets,
                                   bool with_gradient) {
  const int64_t rows = logits.size(0);
  at::Tensor losses = at::empty({rows}, logits.options().dtype(at::kFloat));
  Launch(logits, kernels::CrossEntropyForwardArgs{
                     .dtype = DtypeOf(logits),
                     .rows = rows,
                     .columns = logits.size(1),
                     .scale = 1 / static_cast<float>(rows),
                     .gradient = with_gradient,
                     .targets = targets.const_data_ptr<int64_t>(),
                     .logits = Out(logits),
                     .losses = losses.data_ptr<float>()});
  return losses;
}

void ScaleInPlaceCuda(const at::Tensor& gradient, const at::Tensor& factor) {
  const int64_t columns = gradient.size(-1);
  Launch(gradient, kernels::CrossEntropyBackwardArgs{
                       .dtype = DtypeOf(gradient),
                       .rows = gradient.numel() / columns,
                       .columns = columns,
                       .factor = factor.const_data_ptr<float>(),
                       .gradient = Out(gradient)});
}

}  // namespace trainbench
