// SPDX-License-Identifier: MIT

#include "model/accounting/attention.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

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

AttentionPeakCandidate Highest(std::vector<AttentionPeakCandidate> candidates,
                               const AttentionQuery& q) {
  const AttentionSymbols s = SymbolsOf(q);
  for (AttentionPeakCandidate& candidate : candidates) {
    candidate.bytes = BytesOf(candidate, s) + 4 * s.e * s.N;
  }
  return *std::max_element(
      candidates.begin(), candidates.end(),
      [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
}

std::string LargestTerm(const AttentionPeakCandidate& candidate,
                        const AttentionSymbols& s) {
  const double gib = 1024.0 * 1024 * 1024;
  const int64_t inputs = candidate.n + 4 * s.e;
  if (candidate.s * s.S > inputs * s.N) {
    return absl::StrFormat(
        "scores, weights and their gradients, %d B T^2 bytes: %.2f GiB",
        candidate.s, static_cast<double>(candidate.s * s.S) / gib);
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
  return BytesOf(EndOfForward(query), SymbolsOf(query));
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
  const AttentionPeakCandidates candidates = PeakCandidatesOf(query);
  memory.forward_peak = Highest(candidates.forward, query);
  std::vector<AttentionPeakCandidate> both = candidates.backward;
  both.push_back(memory.forward_peak);
  memory.peak = Highest(std::move(both), query);
  memory.largest_term = LargestTerm(memory.peak, s);
  return memory;
}

int64_t LargestProductElements(const AttentionQuery& query) {
  if (!IsCountable(query)) return kUncountable;
  return std::min<int64_t>(query.threads, query.batch) * query.seq *
         std::max(query.seq, query.d_head);
}

AttentionSymbols SymbolsOf(const AttentionQuery& q) {
  const int64_t rows = q.batch * q.seq;
  return {.S = rows * q.seq,
          .N = rows * q.d_head,
          .M = q.seq * q.seq,
          .R = rows,
          .e = q.bf16 ? 2 : 4};
}

bool IsFused(const AttentionQuery& q) {
  return q.backend && *q.backend != SdpaBackend::kMath;
}

AttentionPeakCandidate EndOfForward(const AttentionQuery& q) {
  const char* const name = "end of the forward pass";
  const int64_t e = SymbolsOf(q).e;
  if (IsFused(q)) return {.name = name, .n = e, .r = 4};
  if (q.backend) return {.name = name, .s = 4, .n = e + (q.bf16 ? 12 : 8)};
  return {.name = name, .s = 4 + e, .n = e, .m = 1, .r = 12};
}

int64_t BytesOf(const AttentionPeakCandidate& candidate,
                const AttentionSymbols& s) {
  return candidate.s * s.S + candidate.n * s.N + candidate.m * s.M +
         candidate.r * s.R + candidate.other;
}

}  // namespace trainbench
