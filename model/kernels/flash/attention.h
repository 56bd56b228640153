// SPDX-License-Identifier: MIT
// FlashAttention-2 (Dao 2023): softmax(scale q k^T) v in tiles. Of the scores,
// it stores only the logarithm of each row's sum of exponentials.

#ifndef TRAINBENCH_MODEL_KERNELS_FLASH_ATTENTION_H_
#define TRAINBENCH_MODEL_KERNELS_FLASH_ATTENTION_H_

#include <cstdint>

#include "model/kernels/device.h"
#include "model/kernels/head_strides.h"

namespace trainbench::kernels {

// Whether there is a kernel for heads of this dimension. There are tiles of 16,
// 32, 64 and 128 channels; the widest also hold fewer, filled up with zeros.
inline constexpr int kWidestHead = 128;
constexpr bool IsFlashHead(int64_t d_head) {
  return d_head == 16 || d_head == 32 || d_head == 64 ||
         (d_head > 64 && d_head <= kWidestHead && d_head % 8 == 0);
}

// Tensors [batch, heads, seq, d_head] of one type, each with its own strides.
// Rows begin at multiples of 16 bytes. Tensor cores multiply bf16, for which
// probabilities are rounded to bf16; fp32 is IEEE fp32. Sums are fp32 in both.
struct FlashShape {
  Dtype dtype;
  int64_t batch;
  int64_t heads;
  int64_t seq;
  int64_t d_head;
  // Always true in the model. As a constant it makes nvcc 13.0 spill registers
  // in eight more kernels.
  bool causal;
  float scale;
};

struct FlashForwardArgs {
  FlashShape shape;
  HeadInput q;
  HeadInput k;
  HeadInput v;
  HeadOutput o;
  float* log_sum;  // [batch, heads, seq]: log(sum(exp(scores))) of each row
};

// With probabilities p, dp = grad_o v^T and ds = p (dp - delta), where delta is
// the row's sum of grad_o o: grad_v = p^T grad_o, grad_q = scale ds k and
// grad_k = scale ds^T q. p is recomputed from log_sum.
struct FlashBackwardArgs {
  FlashShape shape;
  HeadInput q;
  HeadInput k;
  HeadInput v;
  HeadInput o;
  const float* log_sum;
  HeadInput grad_o;
  HeadOutput grad_q;
  HeadOutput grad_k;
  HeadOutput grad_v;
  float* delta;  // scratch [batch, heads, seq]
  // Scratch [batch, heads, seq, d_head], contiguous, to which blocks add grad_q
  // in any order.
  float* grad_q_sum;
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_FLASH_ATTENTION_H_
