// SPDX-License-Identifier: MIT
// FLOPs and bytes of causal attention alone, q, k and v [batch, seq, d_head],
// in closed form, for each variant.
//
// Symbols, in elements: S = batch * seq^2 (the scores), N = batch * seq *
// d_head (one input), M = seq^2 (one mask), R = batch * seq (one value per
// row). e is the width of an element in bytes, 4 or 2.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_H_
#define TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_H_

#include <cstdint>
#include <string>

#include "model/spec/attention_variant.h"
#include "model/spec/component.h"
#include "model/spec/phase.h"

namespace trainbench {

struct AttentionQuery {
  AttentionKind attention = AttentionKind::kNaive;
  int64_t batch = 1;
  int64_t seq = 1;
  int64_t d_head = 1;
  bool bf16 = false;  // else fp32
  bool on_cpu = true;
  // Threads of the CPU. Its kernels keep buffers for each.
  int threads = 1;
  // Of the GPU. Where they outnumber the tiles of flash attention's forward
  // pass, it splits the keys. 0: it does not.
  int multiprocessors = 0;
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

// Bytes held from the forward to the backward pass beyond q, k and v, the
// output among them.
int64_t AttentionSavedBytes(const AttentionQuery& query);

// Compulsory traffic. Forward: reads q, k and v, 3 e N, and writes what is
// saved. Backward: reads q, k, v, the output's gradient and what was saved (the
// unfused variants do not need the output), and writes three gradients.
double AttentionBytes(const AttentionQuery& query, Phase phase);

struct AttentionPeak {
  std::string name;
  int64_t bytes = 0;  // the inputs included
};

struct AttentionMemory {
  int64_t input_bytes = 0;  // q, k, v and the output's gradient, 4 e N
  int64_t saved_bytes = 0;  // AttentionSavedBytes
  // The highest point of a forward pass that keeps its graph, and of forward
  // and backward pass together.
  AttentionPeak forward_peak;
  AttentionPeak peak;
  // The largest term of `peak`, e.g. "scores, weights and their gradients, 24 B
  // T^2 bytes: 48.00 GiB".
  std::string largest_term;
};

// If 64 bits cannot count the bytes, both peaks are the largest int64_t.
//
// Not included: what libraries take for themselves (accounting/library.h). Of
// cuDNN only the least that such a kernel needs is known; it chooses its own
// workspace. The efficient kernel takes more in bf16 if d_head is above 128.
AttentionMemory EstimateAttention(const AttentionQuery& query);

// Elements of the products that run at once: a score matrix or an output in
// each thread. The largest int64_t if 64 bits cannot count the bytes.
int64_t LargestProductElements(const AttentionQuery& query);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_H_
