// SPDX-License-Identifier: MIT
// The variants of attention as functions, by name.

#ifndef TRAINBENCH_MODEL_NN_ATTENTION_VARIANTS_H_
#define TRAINBENCH_MODEL_NN_ATTENTION_VARIANTS_H_

#include <ATen/core/Tensor.h>

#include "model/spec/attention_variant.h"

namespace trainbench {

// NaiveAttention, SdpaAttention, ...: causal softmax(q k^T / sqrt(d)) v for q,
// k and v [..., seq, d_head] of one dtype -> the same shape and dtype (Vaswani
// et al. 2017), with autograd. Throws c10::Error if AttentionUnavailable
// returns a reason.
#define ATTENTION(Name, ...)                                           \
  at::Tensor Name##Attention(const at::Tensor& q, const at::Tensor& k, \
                             const at::Tensor& v);
#include "model/spec/attention_variants.inc"
#undef ATTENTION

// Calls the function of `kind`.
at::Tensor ComputeAttention(AttentionKind kind, const at::Tensor& q,
                            const at::Tensor& k, const at::Tensor& v);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_ATTENTION_VARIANTS_H_
