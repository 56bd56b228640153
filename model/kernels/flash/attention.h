// SPDX-License-Identifier: MIT
// FlashAttention-2 (Dao 2023): softmax(scale q k^T) v in tiles, which keeps of
// the scores the logarithm of each row's sum.

#ifndef TRAINBENCH_MODEL_KERNELS_FLASH_ATTENTION_H_
#define TRAINBENCH_MODEL_KERNELS_FLASH_ATTENTION_H_

#include <cstdint>

#include "model/kernels/device.h"
#include "model/kernels/head_strides.h"

namespace trainbench::kernels {

// Tensors [batch, heads, seq, d_head] of one type, each with strides of its
// own, whose rows begin at multiples of 16 bytes. d_head is 16, 32, 64 or 128.
// bf16 is multiplied by tensor cores, probabilities are rounded to bf16 for it;
// fp32 is IEEE fp32. Sums are fp32 in both.
struct FlashShape {
  Dtype dtype;
  int64_t batch;
  int64_t heads;
  int64_t seq;
  int64_t d_head;
  bool causal;
  float scale;
};

struct FlashForwardArgs {
  FlashShape shape;
  const void* q;
  const void* k;
  const void* v;
  void* o;
  float* log_sum;  // [batch, heads, seq]: log(sum(exp(scores))) of each row
  HeadStrides q_strides;
  HeadStrides k_strides;
  HeadStrides v_strides;
  HeadStrides o_strides;
};

// With p the probabilities, dp = grad_o v^T and ds = p (dp - delta), where
// delta is the row's sum of grad_o o: grad_v = p^T grad_o, grad_q = scale ds k
// and grad_k = scale ds^T q. p is computed again from log_sum.
struct FlashBackwardArgs {
  FlashShape shape;
  const void* q;
  const void* k;
  const void* v;
  const void* o;
  const float* log_sum;
  const void* grad_o;
  void* grad_q;
  void* grad_k;
  void* grad_v;
  HeadStrides q_strides;
  HeadStrides k_strides;
  HeadStrides v_strides;
  HeadStrides o_strides;
  HeadStrides grad_o_strides;
  HeadStrides grad_q_strides;
  HeadStrides grad_k_strides;
  HeadStrides grad_v_strides;
  float* delta;  // scratch [batch, heads, seq]
  // Scratch [batch, heads, seq, d_head], contiguous, to which blocks add grad_q
  // in any order: 5 products of matrices. Null: each run gives the same bits,
  // which takes 7.
  float* grad_q_sum;
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_FLASH_ATTENTION_H_
