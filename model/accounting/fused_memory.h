// SPDX-License-Identifier: MIT
// Memory of a step in the fused implementation, in the symbols of memory.h.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_FUSED_MEMORY_H_
#define TRAINBENCH_MODEL_ACCOUNTING_FUSED_MEMORY_H_

#include <cstdint>
#include <vector>

#include "model/accounting/memory.h"
#include "model/accounting/memory_symbols.h"

namespace trainbench {

// What a block keeps for its backward pass:
//   2 norms     the sum of residual stream and update, r D each, of the first
//               norm the embedded tokens; 1 / rms, 4 n each; their output, e D
//   attention   rotated q, rotated k, and v in one tensor, 3 e D, the merged
//               heads and what its variant keeps, as in memory.h
//   SwiGLU      gate and value in one tensor, and their product: 3 e F
//   autocast    the bf16 copies of its matrices, c W
int64_t FusedBlockSaved(const MemorySymbols& s);
// Of them, those of attention and of the norm before it.
int64_t FusedAttentionSaved(const MemorySymbols& s);
// Of the last norm and the head; the logits become their gradient.
int64_t FusedHeadSaved(const MemorySymbols& s);

// Adds the points at which memory can be highest. `resident` is alive during
// the whole step.
void AddFusedInference(const MemoryQuery& query, const MemorySymbols& s,
                       int64_t resident,
                       std::vector<PeakCandidate>& candidates);
void AddFusedForward(const MemoryQuery& query, const MemorySymbols& s,
                     int64_t resident, std::vector<PeakCandidate>& candidates);
void AddFusedBackward(const MemoryQuery& query, const MemorySymbols& s,
                      int64_t resident, std::vector<PeakCandidate>& candidates);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_FUSED_MEMORY_H_
