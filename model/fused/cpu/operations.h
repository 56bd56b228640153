// SPDX-License-Identifier: MIT
// The operations of model/fused on a CPU, without autograd. Tensors are
// contiguous unless stated otherwise.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_OPERATIONS_H_
#define TRAINBENCH_MODEL_FUSED_CPU_OPERATIONS_H_

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "model/fused/flash.h"

namespace trainbench {

// Results of a norm. R is the dtype of the residual stream and the weight, E
// the dtype of the update and the normed result: E is R, or bf16 if R is fp32.
struct FusedNormResult {
  at::Tensor sum;          // R [..., dim]
  at::Tensor normed;       // E [..., dim]
  at::Tensor inverse_rms;  // fp32 [rows]
};

// Reads residual and update once and writes the results into `to` once. Without
// an update, which is undefined, `to.sum` is the residual itself.
void AddRmsNormCpu(const at::Tensor& residual, const at::Tensor& update,
                   const at::Tensor& weight, double eps,
                   const FusedNormResult& to);

struct NormGradients {
  at::Tensor residual;  // R [..., dim]
  // E [..., dim]; undefined without an update, or if it equals `residual`, as
  // it does if E is R.
  at::Tensor update;
  at::Tensor weight;  // R [dim]
};

// Writes into the tensors of `to` that are defined, and sets `to.weight`. The
// gradient of `sum` may be undefined. The gradient of the weight is summed in
// the same order for any number of threads.
void AddRmsNormBackwardCpu(const at::Tensor& sum_gradient,
                           const at::Tensor& normed_gradient,
                           const at::Tensor& sum, const at::Tensor& inverse_rms,
                           const at::Tensor& weight, NormGradients& to);

// Rotates the queries and keys in qkv [batch, seq, heads + 2 kv_heads, d_head]
// in place. `heads` is the number of query heads. cos and sin [at least seq,
// d_head / 2] are fp32.
void RotateInPlaceCpu(const at::Tensor& qkv, int64_t heads,
                      const at::Tensor& cos, const at::Tensor& sin);

// Returns the gradient of qkv, given the gradients of q, k and v [batch, heads
// or kv_heads, seq, d_head], each contiguous in d_head. Rotates q's and k's
// back.
at::Tensor RotateBackCpu(const std::array<at::Tensor, 3>& gradients,
                         const at::Tensor& cos, const at::Tensor& sin);

// gate_value [..., 2 d_ff] -> silu(gate) * value [..., d_ff].
at::Tensor SwigluCpu(const at::Tensor& gate_value);

// The gradient of gate_value, given the gradient of the result.
at::Tensor SwigluBackwardCpu(const at::Tensor& gradient,
                             const at::Tensor& gate_value);

// FlashAttention-2 (Dao 2023): neither pass materializes the [seq, seq] scores.
// Products accumulate in fp32. bf16 operands are multiplied directly if the CPU
// supports it, and converted to fp32 otherwise. Deterministic for a given
// number of threads.
FlashResult CpuFlashForward(const FlashInputs& inputs);

// `gradient` is the output's gradient, contiguous in d_head.
FlashGradients CpuFlashBackward(const FlashInputs& inputs,
                                const FlashResult& result,
                                const at::Tensor& gradient);

// Replaces scores [..., queries, keys] by softmax(scale * scores) over the keys
// 0 .. query, and by 0 for later keys. There are as many queries as keys.
void CausalSoftmaxInPlaceCpu(const at::Tensor& scores, double scale);

// The gradient of the scores, given the gradient of the weights.
at::Tensor CausalSoftmaxBackwardCpu(const at::Tensor& gradient,
                                    const at::Tensor& weights, double scale);

// Returns the loss, fp32 [rows], of each row of logits [rows, vocab] for
// targets [rows]. If `with_gradient`, replaces the logits by the gradient of
// the mean loss. c10::Error if a target is not in [0, vocab).
at::Tensor CrossEntropyInPlaceCpu(const at::Tensor& logits,
                                  const at::Tensor& targets,
                                  bool with_gradient);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_OPERATIONS_H_
