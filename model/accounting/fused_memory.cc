// SPDX-License-Identifier: MIT

#include "model/accounting/fused_memory.h"

#include <algorithm>
#include <string>

#include "model/accounting/parameters.h"

namespace trainbench {
namespace {

int64_t NormSaved(const MemorySymbols& s) {
  return s.r * s.D + s.e * s.D + 4 * s.n;
}

int64_t FeedForwardSaved(const MemorySymbols& s) {
  return NormSaved(s) + 3 * s.e * s.F + s.c * 3 * s.d_ff;
}

// Beside the gradient of the residual stream, that of an update: under autocast
// a bf16 copy, else the same tensor.
int64_t UpdateGradient(const MemorySymbols& s) {
  return s.c > 0 ? s.e * s.D : 0;
}

// A weight's gradient while it is computed, of `elements`: under autocast in
// bf16 and widened.
int64_t Computed(const MemorySymbols& s, int64_t elements) {
  return (s.c > 0 ? s.e + s.p : s.p) * elements;
}

// Highest points of the backward pass inside a block, given the bytes `x` that
// are alive when the gradients of its output arrive, `gradients` among them.
void AddBlockBackward(const MemorySymbols& s, const char* which, int64_t x,
                      int64_t gradients,
                      std::vector<PeakCandidate>& candidates) {
  const auto add = [&](const char* where, int64_t bytes) {
    candidates.push_back(
        {std::string(where) + " backward of the " + which + " block", bytes,
         gradients});
  };
  // In W2: the gradients of its input, the product, and of itself.
  add("W2", x + s.e * s.F + s.e * s.d_ff);
  add("W2's gradient", x + Computed(s, s.d_ff) - s.c * s.d_ff);
  // The product is released, and its gradient becomes those of gate and value.
  int64_t now = x - UpdateGradient(s) + (s.p - s.c) * s.d_ff - s.e * s.F;
  add("SwiGLU", now + 3 * s.e * s.F);
  // In W1 and W3, whose input is still there: its gradient, and theirs.
  now -= 2 * s.e * s.F;
  add("W1 and W3", now + 2 * s.e * s.F + s.e * s.D + Computed(s, 2 * s.d_ff));
  now += 2 * (s.p - s.c) * s.d_ff - s.e * s.D;
  // The norm's gradients: what reached it, and what leaves.
  add("second norm", now + s.e * s.D + s.r * s.D + UpdateGradient(s));
  now -= s.r * s.D + 4 * s.n;
  const int64_t attention = now + (s.p - s.c) * s.d_squared;
  add("attention", attention + s.attention_backward);
  // Three gradients become one, and that the gradients of the projections.
  const int64_t rotated = attention - s.inputs - s.between;
  add("rotation", rotated + 6 * s.e * s.D);
  add("projections", rotated + 4 * s.e * s.D + Computed(s, 3 * s.d_squared));
}

}  // namespace

int64_t FusedAttentionSaved(const MemorySymbols& s) {
  return NormSaved(s) + s.inputs + s.between + s.c * 4 * s.d_squared;
}

int64_t FusedBlockSaved(const MemorySymbols& s) {
  return FusedAttentionSaved(s) + FeedForwardSaved(s);
}

int64_t FusedHeadSaved(const MemorySymbols& s) {
  return NormSaved(s) + s.c * s.head;
}

void AddFusedInference(const MemoryQuery& query, const MemorySymbols& s,
                       int64_t resident,
                       std::vector<PeakCandidate>& candidates) {
  // Autocast keeps the bf16 copies of matrices with a product of their own.
  const int64_t blocks =
      resident + s.c * (s.d_squared + s.d_ff) * query.config.layers;
  // The stream, and the norm's output, which the caller still holds.
  const int64_t operands = s.r * s.D + s.e * s.D;
  candidates.push_back(
      {"attention",
       blocks + operands + 3 * s.e * s.D +
           std::max(s.attention_inference, s.c * 3 * s.d_squared - s.e * s.D)});
  candidates.push_back(
      {"feed forward",
       blocks + operands + 2 * s.e * s.F +
           std::max(s.e * s.F + s.e * s.D, s.c * (2 * s.d_ff - s.d_ff))});
  candidates.push_back(
      {"logits", blocks + s.c * s.head + operands + s.e * s.L});
}

void AddFusedForward(const MemoryQuery& query, const MemorySymbols& s,
                     int64_t resident, std::vector<PeakCandidate>& candidates) {
  const int64_t saved = resident + query.config.layers * FusedBlockSaved(s);
  candidates.push_back({"attention of the last block",
                        saved - FeedForwardSaved(s) - s.c * s.d_squared -
                            s.inputs - s.between + s.all_inputs - s.e * s.D +
                            s.attention_forward});
  // W2's product is what the last norm adds.
  candidates.push_back({"feed forward of the last block", saved + s.e * s.D});
  candidates.push_back({"logits", saved + FusedHeadSaved(s) + s.e * s.L});
}

void AddFusedBackward(const MemoryQuery& query, const MemorySymbols& s,
                      int64_t resident,
                      std::vector<PeakCandidate>& candidates) {
  const int64_t layers = query.config.layers;
  const int64_t saved = resident + layers * FusedBlockSaved(s);
  candidates.push_back({"head backward", saved + FusedHeadSaved(s) + s.e * s.L +
                                             s.e * s.head + s.e * s.D});
  if (s.c > 0) {
    candidates.push_back(
        {"head gradient cast",
         saved + s.r * s.D + 4 * s.n + (s.e + s.p) * s.head + s.e * s.D});
  }
  const int64_t block_gradients =
      s.p * BlockParameters(query.config) * (layers - 1);
  const int64_t arrived = s.p * s.head + s.r * s.D + UpdateGradient(s);
  AddBlockBackward(s, "last", saved + arrived, s.p * s.head, candidates);
  AddBlockBackward(s, "first",
                   resident + FusedBlockSaved(s) + arrived + block_gradients,
                   s.p * s.head + block_gradients, candidates);
  const int64_t gradients = s.p * ParameterCount(query.config);
  candidates.push_back(
      {"end of backward", resident + gradients + s.r * s.D, gradients});
}

}  // namespace trainbench
