// SPDX-License-Identifier: MIT

#include "model/accounting/attention_ops.h"

namespace trainbench {
namespace {

// The symbols of the header, in a type that does not overflow.
struct Symbols {
  double S, N, e;
};

Symbols SymbolsOf(const AttentionOpQuery& q) {
  const double rows = static_cast<double>(q.batch) *
                      static_cast<double>(q.heads) * static_cast<double>(q.seq);
  return {.S = rows * static_cast<double>(q.seq),
          .N = rows * static_cast<double>(q.d_head),
          .e = q.bf16 ? 2.0 : 4.0};
}

}  // namespace

double AttentionOpFlops(const AttentionOpQuery& query) {
  const double scores = SymbolsOf(query).S;
  if (!IsMatmul(query.part)) return 5 * scores;
  return 2 * scores * static_cast<double>(query.d_head);
}

double AttentionOpBytes(const AttentionOpQuery& query) {
  const Symbols s = SymbolsOf(query);
  switch (query.part) {
    case AttentionOp::kQk:
    case AttentionOp::kPv:
      return s.e * (s.S + 2 * s.N);
    case AttentionOp::kSoftmaxNaive:
      return (query.bf16 ? 32 + 12 : 32) * s.S;
    case AttentionOp::kSoftmaxFused:
      return 2 * s.e * s.S;
  }
  return 0;
}

}  // namespace trainbench
