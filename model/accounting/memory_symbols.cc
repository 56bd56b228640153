// SPDX-License-Identifier: MIT

#include "model/accounting/memory_symbols.h"

#include <algorithm>
#include <vector>

#include "model/accounting/attention_forms.h"
#include "model/accounting/parameters.h"

namespace trainbench {
namespace {

int64_t Most(const std::vector<AttentionMoment>& moments,
             const AttentionSymbols& s) {
  int64_t most = 0;
  for (const AttentionMoment& moment : moments) {
    most = std::max(most, BytesOf(moment, s) - moment.released * s.e * s.N);
  }
  return most;
}

// Heads are sequences to attention. Buffers of the CPU's threads are left out.
void SetAttention(const MemoryQuery& query, MemorySymbols& s) {
  const ModelConfig& m = query.config;
  const AttentionQuery attention = {.attention = m.attention,
                                    .batch = query.batch * m.heads,
                                    .seq = query.seq,
                                    .d_head = m.d_head(),
                                    .bf16 = s.e == 2,
                                    .on_cpu = !query.on_gpu,
                                    .threads = 0};
  const AttentionForm form = FormOf(attention);
  const AttentionSymbols a = SymbolsOf(attention);
  const int64_t merged = form.merges_heads ? s.e * s.D : 0;
  s.inputs = (1 + form.inputs_kept) * s.e * s.D;
  s.all_inputs = 4 * s.e * s.D;
  s.between = form.SavedBytes(a) - merged;
  s.attention_forward = std::max(form.SavedBytes(a), Most(form.forward, a));
  s.attention_inference = Most(form.inference, a);
  // Beside q, k, v and the output's gradient, which are there now.
  s.attention_backward =
      s.all_inputs + Most(form.backward, a) - s.inputs - s.between;
}

}  // namespace

MemorySymbols SymbolsOf(const MemoryQuery& query) {
  const ModelConfig& m = query.config;
  const bool autocast = query.precision == Precision::kBf16Autocast;
  const bool bf16 = query.precision == Precision::kBf16;
  MemorySymbols s{};
  s.n = query.batch * query.seq;
  s.D = s.n * m.d_model;
  s.F = s.n * m.d_ff;
  s.L = s.n * m.vocab;
  s.H = query.batch * m.heads * query.seq;
  s.S = s.H * query.seq;
  s.W = BlockMatrixParameters(m);
  s.mask = query.seq * query.seq;
  s.table = query.seq * m.d_head();  // cosines and sines of seq x d_head / 2
  s.d_squared = m.d_model * m.d_model;
  s.d_ff = m.d_model * m.d_ff;
  s.head = m.vocab * m.d_model;
  s.p = bf16 ? 2 : 4;
  s.r = bf16 ? 2 : 4;
  s.e = bf16 || autocast ? 2 : 4;
  s.c = autocast ? 2 : 0;
  SetAttention(query, s);
  return s;
}

}  // namespace trainbench
