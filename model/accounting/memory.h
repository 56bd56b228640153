// SPDX-License-Identifier: MIT
// Bytes of tensors that one step keeps alive, at its highest point and between
// its passes. ledger/ lists the tensors in the order in which the step makes
// and frees them; tests compare it with the allocator, event by event.
//
// Widths, in bytes:
//
//                            fp32, tf32   bf16_autocast   bf16
//   parameter, gradient          4             4            2
//   residual stream              4             4            2
//   matmul operand, result       4             2            2
//   cast copy of a weight        0             2            0
//
// Norms, softmax and loss are computed in fp32 under every precision.
//
// Left out: numbers of a few bytes, and the copies that a CPU which multiplies
// bf16 makes of operands in pieces, each during its product.

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
  // Of the CPU. Kernels of attention keep buffers for each; 0 leaves them out.
  int threads = 0;
  // That share the matrices, of which `config` has the sizes of one rank's part
  // (model/spec/parallel/tensor_part.h).
  int64_t tensor_ranks = 1;
};

// Bytes that one block keeps from its forward to its backward pass; where
// blocks are recomputed, a segment of them. saved_tensors.h lists them.
int64_t SavedBytesPerBlock(const MemoryQuery& query);
// Of them, those of attention and of the norm before it.
int64_t SavedAttentionBytesPerBlock(const MemoryQuery& query);

// All that is kept at the end of the forward pass, logits excluded: the blocks,
// the last norm and under autocast the bf16 copy of the head.
int64_t SavedBytes(const MemoryQuery& query);

// A moment of the step, e.g. "softmax backward of the last block", and the most
// bytes that are alive in it.
struct PeakCandidate {
  std::string name;
  int64_t bytes = 0;
  // The part of `bytes` that is complete gradients of parameters.
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
  // In their order; of blocks between the second and the last none. The peak is
  // the largest of them, not the sum of the parts.
  std::vector<PeakCandidate> candidates;
  PeakCandidate peak;
  // The largest tensor of those that the step itself has made by then.
  std::string largest_at_peak;
  int64_t largest_at_peak_bytes = 0;
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

// The largest seq, or batch, at most 2^20, whose predicted peak is within
// `budget_bytes`; 0 if not even one token, or sequence, fits.
int64_t LargestSeq(const MemoryQuery& query, int64_t budget_bytes);
int64_t LargestBatch(const MemoryQuery& query, int64_t budget_bytes);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_MEMORY_H_
