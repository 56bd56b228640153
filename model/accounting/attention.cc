// SPDX-License-Identifier: MIT

#include "model/accounting/attention.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/accounting/attention_moments.h"

namespace trainbench {
namespace {

constexpr int64_t kUncountable = std::numeric_limits<int64_t>::max();

// No symbol counts more than 64 times, padding and buffers included.
bool IsCountable(const AttentionQuery& q) {
  const auto seq = static_cast<double>(q.seq) + 1024;
  const double columns = seq + static_cast<double>(q.d_head);
  const double rows = static_cast<double>(q.batch + ThreadsOf(q)) * seq;
  return 64 * rows * columns < 0x1p62;
}

AttentionMoment Highest(std::vector<AttentionMoment> moments,
                        const AttentionQuery& q) {
  const AttentionSymbols s = SymbolsOf(q);
  for (AttentionMoment& moment : moments) {
    moment.bytes = BytesOf(moment, s) + 4 * s.e * s.N;
  }
  return *std::max_element(
      moments.begin(), moments.end(),
      [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
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

int64_t AttentionSavedBytes(const AttentionQuery& query) {
  if (!IsCountable(query)) return kUncountable;
  return BytesOf(SavedMoment(query), SymbolsOf(query));
}

double AttentionBytes(const AttentionQuery& query, Phase phase) {
  const auto saved = static_cast<double>(AttentionSavedBytes(query));
  const double input =
      (query.bf16 ? 2.0 : 4.0) * static_cast<double>(query.batch) *
      static_cast<double>(query.seq) * static_cast<double>(query.d_head);
  if (phase == Phase::kForward) return 3 * input + saved;
  if (phase != Phase::kBackward) return 0;
  return 7 * input + saved - (IsFused(query) ? 0 : input);
}

AttentionMemory EstimateAttention(const AttentionQuery& query) {
  AttentionMemory memory;
  if (!IsCountable(query)) {
    memory.forward_peak = {.name = "beyond counting", .bytes = kUncountable};
    memory.peak = memory.forward_peak;
    memory.largest_term = "scores, more bytes than 64 bits can count";
    return memory;
  }
  const AttentionSymbols s = SymbolsOf(query);
  memory.input_bytes = 4 * s.e * s.N;
  memory.saved_bytes = AttentionSavedBytes(query);
  const AttentionMoments moments = MomentsOf(query);
  memory.forward_peak = Highest(moments.forward, query);
  std::vector<AttentionMoment> both = moments.backward;
  both.push_back(memory.forward_peak);
  memory.peak = Highest(std::move(both), query);
  memory.largest_term = LargestTerm(memory.peak, s);
  return memory;
}

}  // namespace trainbench
