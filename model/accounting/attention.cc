// SPDX-License-Identifier: MIT

#include "model/accounting/attention.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/accounting/attention_forms.h"

namespace trainbench {

namespace {

constexpr int64_t kUncountable = std::numeric_limits<int64_t>::max();

// No symbol counts more than 64 times, padding and buffers included.
bool IsCountable(const AttentionQuery& q) {
  const auto seq = static_cast<double>(q.seq) + 1024;
  const double columns = seq + static_cast<double>(q.d_head);
  const double rows = static_cast<double>(q.batch + q.threads) * seq;
  return 64 * rows * columns < 0x1p62;
}

int64_t Highest(const std::vector<AttentionMoment>& moments,
                const AttentionSymbols& s, AttentionMoment& highest) {
  int64_t most = 0;
  for (const AttentionMoment& moment : moments) {
    const int64_t bytes = BytesOf(moment, s) + 4 * s.e * s.N;
    if (bytes <= most) continue;
    most = bytes;
    highest = moment;
  }
  return most;
}

// What the caller holds when the forward pass is over, the output among it.
AttentionMoment EndOfForward(const AttentionForm& form,
                             const AttentionSymbols& s) {
  return {.name = "end of the forward pass",
          .n = form.keeps_output() ? 0 : s.e,
          .other = form.SavedBytes(s)};
}

std::string LargestTerm(const AttentionMoment& moment,
                        const AttentionSymbols& s) {
  const double gib = 1024.0 * 1024 * 1024;
  const int64_t inputs = moment.n + 4 * s.e;
  if (moment.s * s.S > inputs * s.N) {
    return absl::StrFormat(
        "scores, weights and their gradients, %d B T^2 bytes: %.2f GiB",
        moment.s, static_cast<double>(moment.s * s.S) / gib);
  }
  return absl::StrFormat(
      "inputs, output and their gradients, %d B T d bytes: %.2f GiB", inputs,
      static_cast<double>(inputs * s.N) / gib);
}

}  // namespace

double AttentionFlops(const AttentionQuery& query, Phase phase) {
  const auto seq = static_cast<double>(query.seq);
  const double forward = 4 * static_cast<double>(query.batch) * seq * seq *
                         static_cast<double>(query.d_head);
  if (phase == Phase::kForward) return forward;
  return phase == Phase::kBackward ? 2 * forward : 0;
}

double LeastAttentionFlops(const AttentionQuery& query, Phase phase) {
  const double flops = AttentionFlops(query, phase);
  return VariantOf(query.attention).skips_masked ? flops / 2 : flops;
}

int64_t AttentionSavedBytes(const AttentionQuery& query) {
  if (!IsCountable(query)) return kUncountable;
  const AttentionSymbols s = SymbolsOf(query);
  return BytesOf(EndOfForward(FormOf(query), s), s);
}

double AttentionBytes(const AttentionQuery& query, Phase phase) {
  const auto saved = static_cast<double>(AttentionSavedBytes(query));
  const double input =
      (query.bf16 ? 2.0 : 4.0) * static_cast<double>(query.batch) *
      static_cast<double>(query.seq) * static_cast<double>(query.d_head);
  if (phase == Phase::kForward) return 3 * input + saved;
  if (phase != Phase::kBackward) return 0;
  return 7 * input + saved - (FormOf(query).keeps_output() ? 0 : input);
}

AttentionMemory EstimateAttention(const AttentionQuery& query) {
  AttentionMemory memory;
  if (!IsCountable(query)) {
    memory.forward_peak = {"beyond counting", kUncountable};
    memory.peak = memory.forward_peak;
    memory.largest_term = "scores, more bytes than 64 bits can count";
    return memory;
  }
  const AttentionSymbols s = SymbolsOf(query);
  memory.input_bytes = 4 * s.e * s.N;
  memory.saved_bytes = AttentionSavedBytes(query);
  const AttentionForm form = FormOf(query);
  std::vector<AttentionMoment> moments = form.forward;
  moments.push_back(EndOfForward(form, s));
  AttentionMoment highest;
  memory.forward_peak.bytes = Highest(moments, s, highest);
  memory.forward_peak.name = highest.name;
  moments.insert(moments.end(), form.backward.begin(), form.backward.end());
  memory.peak.bytes = Highest(moments, s, highest);
  memory.peak.name = highest.name;
  memory.largest_term = LargestTerm(highest, s);
  return memory;
}

int64_t LargestProductElements(const AttentionQuery& query) {
  if (!IsCountable(query)) return kUncountable;
  return std::min<int64_t>(query.threads, query.batch) * query.seq *
         std::max(query.seq, query.d_head);
}

}  // namespace trainbench
