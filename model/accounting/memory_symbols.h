// SPDX-License-Identifier: MIT
// What the closed forms of memory.cc and fused_memory.cc are written in.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_MEMORY_SYMBOLS_H_
#define TRAINBENCH_MODEL_ACCOUNTING_MEMORY_SYMBOLS_H_

#include <cstdint>

#include "model/accounting/memory.h"

namespace trainbench {

// The symbols of memory.h, with the names that they have there.
struct MemorySymbols {
  int64_t n, D, F, L, S, H, W, mask, table;  // elements; mask in bytes
  int64_t d_squared, d_ff, head;             // one matrix of each kind
  int64_t p, r, e, c;                        // widths in bytes
  // Of one layer's attention, in bytes.
  int64_t inputs;              // q, k, v and the merged heads, as far as kept
  int64_t all_inputs;          // all of q, k, v and the merged heads
  int64_t between;             // kept from the scores to its own output
  int64_t attention_forward;   // most between q, k and v and the merged heads
  int64_t attention_backward;  // most beside what is kept
  int64_t attention_inference;
};

MemorySymbols SymbolsOf(const MemoryQuery& query);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_MEMORY_SYMBOLS_H_
