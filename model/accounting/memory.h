// SPDX-License-Identifier: MIT
// Bytes of tensors that one step keeps alive, in closed form.
//
// Symbols, in elements: n = batch * seq tokens, D = n d, F = n ff, L = n V,
// S = batch * heads * seq^2 (one score matrix), H = batch * heads * seq, and
// W = 4 d^2 + 3 d ff (matrices of a block). Widths, in bytes:
//
//                            fp32, tf32   bf16_autocast   bf16
//   p  parameter, gradient       4             4            2
//   r  residual stream           4             4            2
//   e  matmul operand, result    4             2            2
//   c  cast copy of a weight     0             2            0
//
// Norms, softmax and loss are computed in fp32 under every precision. The
// forms follow what autograd saves for the backward pass of model/, tensor by
// tensor; tests compare them with the allocator.
//
// Domain: d_ff of at least 2 d and more than one head, as real models have. In
// a model with a narrower feed-forward network the backward pass of the
// projections can be the peak. It is no candidate here, so the forms are then
// up to 16 % low.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_MEMORY_H_
#define TRAINBENCH_MODEL_ACCOUNTING_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/spec/config.h"
#include "model/spec/precision.h"
#include "model/spec/step_mode.h"

namespace trainbench {

struct MemoryQuery {
  ModelConfig config;
  int64_t batch = 1;
  int64_t seq = 1;
  Precision precision = Precision::kFp32;
  StepMode mode = StepMode::kTrainStep;
  // Of attention that is not naive, whose kernels differ. Other steps take the
  // same bytes on any device.
  bool on_gpu = false;
};

// Bytes that one block keeps from its forward to its backward pass:
//   2 norms     the fp32 input and its normalised form, 8 D each; 1 / rms, 4 n
//               each; their outputs: 4 D, or a bf16 copy per consumer under
//               autocast (3 for q, k, v; 2 for w1, w3), or 2 D
//   attention   rotated q, rotated k, v and the merged heads, e D each, as far
//               as the variant keeps them
//     between   what its variant keeps beside them (attention_forms.h), but
//               not an output that is the merged heads in memory
//   SwiGLU      gate, sigmoid, silu, value, product: 5 e F
//   autocast    the bf16 copies of its matrices, c W
int64_t SavedBytesPerBlock(const MemoryQuery& query);
// Of them, those of attention and of the norm before it.
int64_t SavedAttentionBytesPerBlock(const MemoryQuery& query);

// All that is kept at the end of the forward pass, logits excluded: the blocks,
// the last norm (as above, one consumer) and under autocast the bf16 copy of
// the head, c V d.
int64_t SavedBytes(const MemoryQuery& query);

// A point of the step at which memory can be highest.
struct PeakCandidate {
  std::string name;
  int64_t bytes = 0;
  // The part of `bytes` that is complete gradients of blocks and of the head.
  int64_t gradient_bytes = 0;
};

struct MemoryEstimate {
  // Alive during the whole step.
  int64_t parameter_bytes = 0;
  int64_t optimizer_bytes = 0;  // AdamW's moments; 0 unless a train step
  int64_t input_bytes = 0;      // tokens, targets, rotary tables
  // Alive during part of it.
  int64_t gradient_bytes = 0;  // 0 for the forward modes
  int64_t saved_bytes = 0;     // SavedBytes; 0 for inference
  // One tensor each: the residual stream, r D, and the logits, e L.
  int64_t residual_bytes = 0;
  int64_t logit_bytes = 0;
  // The peak is the largest candidate, not the sum of the parts.
  std::vector<PeakCandidate> candidates;
  PeakCandidate peak;
};

// Whether 64 bits can count the job's bytes, with room to spare: the sizes that
// Validate() allows reach 2^100.
bool IsCountable(const MemoryQuery& query);

// If the job is not countable, the peak is the largest int64_t and all else 0.
MemoryEstimate EstimateMemory(const MemoryQuery& query);

// Elements of the largest result of a matrix product: logits, hidden layer of
// the feed-forward part, gradient of a weight, or the score matrices that
// `threads` threads work on at once. The largest int64_t if not countable.
int64_t LargestProductElements(const MemoryQuery& query, int threads);

// The peak if gradients move, as they are completed, into a buffer of
// `buffer_bytes` that is there all the time. If the buffer is smaller than all
// gradients, the first gradients are assumed to stay outside it. The result is
// then too high by at most their bytes.
int64_t PeakWithGradientBuffer(const MemoryEstimate& estimate,
                               int64_t buffer_bytes);

// The largest seq, at most 2^20, whose predicted peak is within `budget_bytes`;
// 0 if not even one token fits.
int64_t LargestSeq(MemoryQuery query, int64_t budget_bytes);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_MEMORY_H_
