// SPDX-License-Identifier: MIT

#include "model/accounting/attention_ops.h"

#include <limits>

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

int64_t AttentionOpPeakBytes(const AttentionOpQuery& query) {
  const Symbols symbols = SymbolsOf(query);
  if (32 * (symbols.S + symbols.N) > 0x1p62) {
    return std::numeric_limits<int64_t>::max();
  }
  const auto S = static_cast<int64_t>(symbols.S);
  const auto N = static_cast<int64_t>(symbols.N);
  const int64_t R = query.batch * query.heads * query.seq;
  const int64_t e = query.bf16 ? 2 : 4;
  switch (query.part) {
    case AttentionOp::kQk:
    case AttentionOp::kPv:
      return e * (2 * N + S);
    case AttentionOp::kSoftmaxFused:
      return 2 * e * S;
    case AttentionOp::kSoftmaxNaive:
      // The scores, and two fp32 tensors at a time: while dividing, with the
      // sums; with bf16 also while subtracting, with the maxima and their
      // indices.
      return query.bf16 ? 10 * S + 12 * R : 12 * S + 4 * R;
  }
  return 0;
}

}  // namespace trainbench
