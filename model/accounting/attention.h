// SPDX-License-Identifier: MIT
// FLOPs and bytes of causal attention alone, q, k and v [batch, seq, d_head],
// in closed form: NaiveAttention and the backends of SdpaAttention.
//
// Symbols, in elements: S = batch * seq^2 (the scores), N = batch * seq *
// d_head (one input), M = seq^2 (one mask), R = batch * seq (one value per
// row). e is the width of an element in bytes, 4 or 2.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_H_
#define TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/spec/phase.h"
#include "model/spec/sdpa_backend.h"

namespace trainbench {

struct AttentionQuery {
  std::optional<SdpaBackend> backend = {};  // empty: NaiveAttention
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

// Bytes held from the forward to the backward pass beyond q, k and v, the
// output among them:
//   naive   exp(scores) in fp32, 4 S, and the weights, e S; the mask, M; the
//           row sums and the indices of row maxima, 12 R; the output, e N
//   math    the weights, 4 S, and the scaled q and k, 8 N, in fp32; with bf16
//           also the widened v, 4 N; the output, e N
//   others  the output, e N, and log-sum-exp, 4 R
int64_t AttentionSavedBytes(const AttentionQuery& query);

// Compulsory traffic. Forward: reads q, k and v, 3 e N, and writes what is
// saved. Backward: reads q, k, v, the output's gradient and what was saved (the
// unfused variants do not need the output), and writes three gradients.
double AttentionBytes(const AttentionQuery& query, Phase phase);

// A point of the pass at which memory can be highest: s S + n N + m M + r R +
// other bytes beside the inputs.
struct AttentionPeakCandidate {
  std::string name;
  int64_t s = 0, n = 0, m = 0, r = 0;
  int64_t other = 0;  // buffers of kernels
  int64_t bytes = 0;  // all together, the inputs included
};

struct AttentionMemory {
  int64_t input_bytes = 0;  // q, k, v and the output's gradient, 4 e N
  int64_t saved_bytes = 0;  // AttentionSavedBytes
  // The highest point of a forward pass that keeps its graph, and of forward
  // and backward pass together.
  AttentionPeakCandidate forward_peak;
  AttentionPeakCandidate peak;
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

// Those of accounting/attention.h.
struct AttentionSymbols {
  int64_t S, N, M, R, e;
};

AttentionSymbols SymbolsOf(const AttentionQuery& query);

// Whether one kernel does it all, without scores in memory.
bool IsFused(const AttentionQuery& query);

// What is held at the end of the forward pass.
AttentionPeakCandidate EndOfForward(const AttentionQuery& query);

struct AttentionPeakCandidates {
  std::vector<AttentionPeakCandidate> forward, backward;
};

// Where memory may be at its highest. `bytes` is left to BytesOf.
AttentionPeakCandidates PeakCandidatesOf(const AttentionQuery& query);

// Beside the inputs.
int64_t BytesOf(const AttentionPeakCandidate& candidate,
                const AttentionSymbols& symbols);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_H_
