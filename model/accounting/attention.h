// SPDX-License-Identifier: MIT
// FLOPs and bytes of causal attention alone, q, k and v [batch, seq, d_head],
// in closed form, for each variant.
//
// N is batch * seq * d_head, the elements of one input, and e the width of an
// element in bytes, 4 or 2.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_H_
#define TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_H_

#include <cstdint>

#include "model/spec/attention_variant.h"
#include "model/spec/phase.h"

namespace trainbench {

struct AttentionQuery {
  AttentionKind attention = AttentionKind::kNaive;
  int64_t batch = 1;
  int64_t seq = 1;
  int64_t d_head = 1;
  bool bf16 = false;  // else fp32
};

// FLOPs of the matrix products over the full square, as everywhere in
// accounting/. Forward: Q K^T and P V, 4 batch seq^2 d_head. Backward: two
// gradients of each, twice as many. Other phases: 0. These are model FLOPs: the
// fused kernels multiply Q K^T once more in the backward pass (2.5 times the
// forward pass) and leave out the tiles above the diagonal.
double AttentionFlops(const AttentionQuery& query, Phase phase);

// FLOPs that the variant needs at the least: without the masked half, if it can
// leave that out.
double LeastAttentionFlops(const AttentionQuery& query, Phase phase);

// Compulsory traffic, where the forward pass keeps `saved_bytes` beyond q, k
// and v, the output among them. Forward: reads q, k and v, 3 e N, and writes
// what is saved. Backward: reads q, k, v, the output's gradient and what was
// saved (the unfused variants do not need the output), and writes three
// gradients.
double AttentionBytes(const AttentionQuery& query, Phase phase,
                      int64_t saved_bytes);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_H_
