// SPDX-License-Identifier: MIT

#include "model/accounting/memory.h"

#include <algorithm>
#include <limits>

#include "model/accounting/fused_memory.h"
#include "model/accounting/memory_symbols.h"
#include "model/accounting/parameters.h"

namespace trainbench {
namespace {

constexpr int64_t kMaxSeq = int64_t{1} << 20;

int64_t NormSaved(const MemorySymbols& s, int64_t consumers) {
  const int64_t output = s.c > 0 ? s.e * consumers : s.e;
  return (8 + output) * s.D + 4 * s.n;
}

int64_t AttentionSaved(const MemorySymbols& s) {
  return NormSaved(s, 3) + s.inputs + s.between + s.c * 4 * s.d_squared;
}

int64_t FeedForwardSaved(const MemorySymbols& s) {
  return NormSaved(s, 2) + 5 * s.e * s.F + s.c * 3 * s.d_ff;
}

int64_t BlockSaved(const MemorySymbols& s) {
  return AttentionSaved(s) + FeedForwardSaved(s);
}

int64_t HeadSaved(const MemorySymbols& s) {
  return NormSaved(s, 1) + s.c * s.head;
}

// Live bytes of a block without a graph, at its two widest points.
int64_t InferenceAttention(const MemorySymbols& s) {
  const int64_t norm_output = s.c > 0 ? 4 * s.D : s.e * s.D;
  const int64_t operands = s.r * s.D + norm_output + 3 * s.e * s.D;
  // Rotating k, beside x, the norm's output and q: its input, four products,
  // two results, their interleaving, all in fp32 but the input.
  const int64_t rotation = s.r * s.D + norm_output + 2 * s.e * s.D + 16 * s.D;
  return std::max(operands + s.attention_inference, rotation);
}

int64_t InferenceFeedForward(const MemorySymbols& s) {
  const int64_t norm_output = s.c > 0 ? 4 * s.D : s.e * s.D;
  // Silu, value and their product beside the output, or the value being made,
  // when W2 has not been copied yet.
  const int64_t product = 3 * s.e * s.F + s.e * s.D;
  const int64_t value = 2 * s.e * s.F - s.c * s.d_ff;
  return s.r * s.D + norm_output + std::max(product, value);
}

int64_t InferenceHead(const MemorySymbols& s) {
  const int64_t norm_output = s.c > 0 ? 6 * s.D : s.e * s.D;
  return s.r * s.D + norm_output + s.e * s.L;
}

void AddInference(const MemoryQuery& query, const MemorySymbols& s,
                  int64_t resident, std::vector<PeakCandidate>& candidates) {
  // Autocast keeps every bf16 copy of a weight until the pass is over.
  const int64_t blocks = resident + s.c * s.W * query.config.layers;
  candidates.push_back({"attention", blocks - s.c * (s.d_squared + 3 * s.d_ff) +
                                         InferenceAttention(s)});
  candidates.push_back({"feed forward", blocks + InferenceFeedForward(s)});
  candidates.push_back({"logits", blocks + s.c * s.head + InferenceHead(s)});
}

// Highest points of a forward pass that keeps its graph.
void AddForward(const MemoryQuery& query, const MemorySymbols& s,
                int64_t resident, std::vector<PeakCandidate>& candidates) {
  const int64_t saved = resident + query.config.layers * BlockSaved(s);
  // The norm's fp32 output (autocast) or the block's narrow input (bf16) is
  // saved by nobody but still referenced by the caller.
  const int64_t referenced = s.c > 0 ? 4 * s.D : s.r == 2 ? 2 * s.D : 0;
  const int64_t last_attention =
      saved - FeedForwardSaved(s) - s.c * s.d_squared - s.inputs - s.between +
      s.all_inputs - s.e * s.D + s.attention_forward + referenced;
  candidates.push_back({"attention of the last block", last_attention});
  // The value is being made: neither its product nor a copy of W2 is there.
  candidates.push_back({"feed forward of the last block",
                        saved - s.e * s.F - s.c * s.d_ff + referenced});
  candidates.push_back(
      {"logits", saved + HeadSaved(s) + referenced + s.e * s.L});
}

// Highest points of the backward pass inside a block, given the bytes `x` that
// are alive when the block's output gradient arrives, `gradients` among them.
void AddBlockBackward(const MemorySymbols& s, const char* which, int64_t x,
                      int64_t gradients,
                      std::vector<PeakCandidate>& candidates) {
  const auto add = [&](const char* where, int64_t bytes) {
    candidates.push_back(
        {std::string(where) + " backward of the " + which + " block", bytes,
         gradients});
  };
  // In W2: its gradient, and the product's as it is computed.
  add("W2", x + s.c * s.D + s.e * s.d_ff + s.e * s.F);
  // After W2: the gradients of silu and of the value.
  const int64_t one_matrix = (s.p - s.c) * s.d_ff;
  add("SwiGLU", x + one_matrix + 2 * s.e * s.F);
  // In W3, when its own operands of 5 F are released but the gate's two, then
  // in the gate itself, whose product has two gradients.
  const int64_t computed = s.p * s.d_ff;
  add("W3", x + one_matrix + computed + s.e * s.D - s.e * s.F);
  add("gate", x + 2 * one_matrix + s.e * s.D);
  // After the whole SwiGLU: three weight gradients, the last of them as it is
  // computed or widened; the gate's gradient and value; the gradient of the
  // norm's output.
  add("feed-forward matmul",
      x + 2 * one_matrix + computed + 2 * s.e * s.D - 4 * s.e * s.F);
  const int64_t attention = x + 3 * one_matrix - 5 * s.e * s.F -
                            NormSaved(s, 2) + (s.p - s.c) * s.d_squared;
  add("softmax", attention + s.attention_backward);
  // The first norm: the block is nearly all released, its gradients are made.
  const int64_t released = x - BlockSaved(s) + s.p * s.W;
  add("norm", released + 20 * s.D);
}

void AddBackward(const MemoryQuery& query, const MemorySymbols& s,
                 int64_t resident, std::vector<PeakCandidate>& candidates) {
  const int64_t layers = query.config.layers;
  const int64_t saved = resident + layers * BlockSaved(s);
  const int64_t block_gradients =
      s.p * BlockParameters(query.config) * (layers - 1);
  // Loss: shifted logits and their exponentials were saved; the gradient of
  // the gathered ones is a third fp32 tensor of that size.
  candidates.push_back({"loss backward", saved + HeadSaved(s) + 12 * s.L});
  candidates.push_back({"head backward", saved + HeadSaved(s) + s.e * s.L +
                                             s.e * s.head + s.e * s.D});
  if (s.c > 0) {
    candidates.push_back(
        {"head gradient cast",
         saved + NormSaved(s, 1) + (s.e + s.p) * s.head + 2 * s.D});
  }
  const int64_t head_gradient = s.p * s.head + s.r * s.D;
  AddBlockBackward(s, "last", saved + head_gradient, s.p * s.head, candidates);
  AddBlockBackward(s, "first",
                   resident + BlockSaved(s) + head_gradient + block_gradients,
                   s.p * s.head + block_gradients, candidates);
  const int64_t gradients = s.p * ParameterCount(query.config);
  candidates.push_back(
      {"end of backward", resident + gradients + s.r * s.D, gradients});
}

bool IsFused(const MemoryQuery& query) {
  return query.config.implementation == Implementation::kFused;
}

}  // namespace

// No tensor's elements are alive more than 16 times at once, with 4 bytes each.
bool IsCountable(const MemoryQuery& query) {
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  const ModelConfig& m = query.config;
  const double d = number(m.d_model), ff = number(m.d_ff),
               layers = number(m.layers), heads = number(m.heads),
               vocab = number(m.vocab), seq = number(query.seq),
               tokens = number(query.batch) * seq;
  const double block = tokens * (d + ff + heads * (seq + 1)) + seq * (seq + d) +
                       4 * d * d + 3 * d * ff + 2 * d;
  const double elements = layers * block + (tokens + 2 * d) * vocab + d;
  return 16 * 4 * elements < 0x1p62;
}

int64_t SavedBytesPerBlock(const MemoryQuery& query) {
  const MemorySymbols s = SymbolsOf(query);
  return IsFused(query) ? FusedBlockSaved(s) : BlockSaved(s);
}

int64_t SavedAttentionBytesPerBlock(const MemoryQuery& query) {
  const MemorySymbols s = SymbolsOf(query);
  return IsFused(query) ? FusedAttentionSaved(s) : AttentionSaved(s);
}

int64_t SavedBytes(const MemoryQuery& query) {
  const MemorySymbols s = SymbolsOf(query);
  return query.config.layers * SavedBytesPerBlock(query) +
         (IsFused(query) ? FusedHeadSaved(s) : HeadSaved(s));
}

MemoryEstimate EstimateMemory(const MemoryQuery& query) {
  if (!IsCountable(query)) {
    MemoryEstimate beyond;
    beyond.peak = {"beyond counting", std::numeric_limits<int64_t>::max()};
    beyond.candidates = {beyond.peak};
    return beyond;
  }
  const MemorySymbols s = SymbolsOf(query);
  const bool backward = query.mode == StepMode::kForwardBackward ||
                        query.mode == StepMode::kTrainStep;
  MemoryEstimate estimate;
  estimate.parameter_bytes = s.p * ParameterCount(query.config);
  if (query.mode == StepMode::kTrainStep) {
    // Both moments, and the fused kernel's fp32 step count per tensor.
    estimate.optimizer_bytes =
        2 * estimate.parameter_bytes + 4 * ParameterTensorCount(query.config);
  }
  // Each block keeps its own rotary tables, in fp32.
  estimate.input_bytes = 2 * 8 * s.n + 4 * s.table * query.config.layers;
  estimate.residual_bytes = s.r * s.D;
  estimate.logit_bytes = s.e * s.L;
  estimate.gradient_bytes = backward ? estimate.parameter_bytes : 0;
  const int64_t resident = estimate.parameter_bytes + estimate.optimizer_bytes +
                           estimate.input_bytes;
  const bool fused = IsFused(query);
  if (query.mode == StepMode::kInference) {
    (fused ? AddFusedInference : AddInference)(query, s, resident,
                                               estimate.candidates);
  } else {
    estimate.saved_bytes = SavedBytes(query);
    (fused ? AddFusedForward : AddForward)(query, s, resident,
                                           estimate.candidates);
  }
  if (backward) {
    (fused ? AddFusedBackward : AddBackward)(query, s, resident,
                                             estimate.candidates);
  }
  estimate.peak = *std::max_element(
      estimate.candidates.begin(), estimate.candidates.end(),
      [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  return estimate;
}

int64_t LargestProductElements(const MemoryQuery& query, int threads) {
  if (!IsCountable(query)) return std::numeric_limits<int64_t>::max();
  const MemorySymbols s = SymbolsOf(query);
  const int64_t matrices =
      std::min<int64_t>(threads, query.batch * query.config.heads);
  return std::max({s.L, s.F, s.D, s.head, s.d_ff, s.d_squared,
                   matrices * query.seq * query.seq});
}

int64_t PeakWithGradientBuffer(const MemoryEstimate& estimate,
                               int64_t buffer_bytes) {
  const int64_t outside =
      std::max<int64_t>(0, estimate.gradient_bytes - buffer_bytes);
  int64_t most = 0;
  for (const PeakCandidate& candidate : estimate.candidates) {
    const int64_t moved =
        std::max<int64_t>(0, candidate.gradient_bytes - outside);
    most = std::max(most, candidate.bytes - moved);
  }
  return most > std::numeric_limits<int64_t>::max() - buffer_bytes
             ? most
             : most + buffer_bytes;
}

int64_t LargestSeq(MemoryQuery query, int64_t budget_bytes) {
  const auto fits = [&](int64_t seq) {
    query.seq = seq;
    return EstimateMemory(query).peak.bytes <= budget_bytes;
  };
  // low fits, high does not or is beyond the limit. Sizes whose bytes cannot be
  // counted fit no budget.
  int64_t low = 0, high = kMaxSeq + 1;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace trainbench
