// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_FUSED_ATTENTION_H_
#define TRAINBENCH_MODEL_FUSED_ATTENTION_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// softmax(q k^T / sqrt(d)) v over the keys up to the query. q, k and v [...,
// seq, d_head] of one dtype, fp32 or bf16 -> the same shape and dtype.
// FlashAttention-2 (Dao 2023): neither pass materializes the [seq, seq] scores.
// Saves q, k, v, the output and the log-sum-exp of each row. For inputs [batch,
// heads, seq, d_head] the memory layout of the result is [batch, seq, heads,
// d_head], so that merging the heads needs no copy. Deterministic for a given
// number of threads, except the backward pass on a GPU, which LibTorch's
// deterministic mode refuses.
at::Tensor FusedAttention(const at::Tensor& q, const at::Tensor& k,
                          const at::Tensor& v);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_ATTENTION_H_
