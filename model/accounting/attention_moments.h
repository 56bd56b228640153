// SPDX-License-Identifier: MIT
// The moments behind EstimateAttention, variant by variant, as autograd and the
// kernels of LibTorch 2.11 make them; tests compare them with the allocator.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_MOMENTS_H_
#define TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_MOMENTS_H_

#include <cstdint>
#include <vector>

#include "model/accounting/attention.h"

namespace trainbench {

// Those of accounting/attention.h.
struct AttentionSymbols {
  int64_t S, N, M, R, e;
};

AttentionSymbols SymbolsOf(const AttentionQuery& query);

// Threads of the CPU that the query asks about.
int64_t ThreadsOf(const AttentionQuery& query);

// Whether one kernel does it all, without scores in memory.
bool IsFused(const AttentionQuery& query);

// What is held at the end of the forward pass.
AttentionMoment SavedMoment(const AttentionQuery& query);

struct AttentionMoments {
  std::vector<AttentionMoment> forward, backward;
};

// Where memory may be at its highest. `bytes` is left to BytesOf.
AttentionMoments MomentsOf(const AttentionQuery& query);

// Beside the inputs.
int64_t BytesOf(const AttentionMoment& moment, const AttentionSymbols& symbols);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_ATTENTION_MOMENTS_H_
