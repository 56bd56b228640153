// SPDX-License-Identifier: MIT

#include "model/accounting/attention.h"

#include "model/accounting/number.h"

namespace trainbench {

double AttentionFlops(const AttentionQuery& query, Phase phase) {
  const double forward = 4 * Number(query.batch) * Number(query.seq) *
                         Number(query.seq) * Number(query.d_head);
  if (phase == Phase::kForward) return forward;
  return phase == Phase::kBackward ? 2 * forward : 0;
}

double LeastAttentionFlops(const AttentionQuery& query, Phase phase) {
  const double flops = AttentionFlops(query, phase);
  return VariantOf(query.attention).skips_masked ? flops / 2 : flops;
}

double AttentionBytes(const AttentionQuery& query, Phase phase,
                      int64_t saved_bytes) {
  const double input = (query.bf16 ? 2 : 4) * Number(query.batch) *
                       Number(query.seq) * Number(query.d_head);
  const double saved = Number(saved_bytes);
  if (phase == Phase::kForward) return 3 * input + saved;
  if (phase != Phase::kBackward) return 0;
  return 7 * input + saved -
         (VariantOf(query.attention).keeps_output ? 0 : input);
}

}  // namespace trainbench
