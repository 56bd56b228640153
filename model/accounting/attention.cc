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

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void AddNaive(const AttentionQuery& q, int64_t e, AttentionPeakCandidates& to) {
  // exp(scores) and the quotient, and with bf16 the narrowed weights.
  to.forward.push_back(
      {.name = "softmax", .s = q.bf16 ? 10 : 8, .m = 1, .r = 12});
  // The weights' gradient, in bf16 after the saved weights are gone.
  to.backward.push_back({.name = "backward of the product with v",
                         .s = 4 + 2 * e,
                         .n = 2 * e,
                         .m = 1,
                         .r = 12});
  // exp(scores), the weights' gradient and four tensors of the quotient's
  // derivative, all fp32; the saved weights are gone. The output and v's
  // gradient are there.
  to.backward.push_back(
      {.name = "softmax backward", .s = 24, .n = 2 * e, .m = 1, .r = 12});
  to.backward.push_back({.name = "gradients of q and k", .s = e, .n = 4 * e});
}

// LibTorch widens bf16 inputs and computes in fp32 (w: 1 if so).
void AddMath(int64_t e, AttentionPeakCandidates& to) {
  const int64_t w = e == 2 ? 1 : 0;
  // Scores, weights, which rows are masked out; the mask as numbers; scaled q
  // and k; the widened inputs.
  to.forward.push_back(
      {.name = "softmax", .s = 9, .n = 8 + 12 * w, .m = 4, .r = 1});
  // The output, with bf16 in both widths, beside the weights in both.
  to.forward.push_back(
      {.name = "product with v", .s = 4 + 2 * w, .n = 12 + 14 * w, .m = 4});
  const int64_t saved = e + 8 + 4 * w;
  to.backward.push_back({.name = "backward of the product with v",
                         .s = 8,
                         .n = saved + 4 + 4 * w});
  to.backward.push_back({.name = "softmax backward", .s = 12, .n = e + 8 + 4});
  to.backward.push_back({.name = "gradients of q and k", .s = 4, .n = e + 20});
}

// LibTorch's flash attention for CPUs works on tiles of `rows` x `columns`
// (aten/src/ATen/native/cpu/FlashAttentionKernel.cpp).
void AddCpuFlash(const AttentionQuery& q, int64_t e,
                 AttentionPeakCandidates& to) {
  const int64_t tile_rows = q.seq >= 768 ? 256 : q.seq >= 192 ? 64 : 32;
  const int64_t rows = std::min(tile_rows, q.seq);
  const int64_t columns = std::min<int64_t>(512, q.seq);
  const int64_t narrowed = q.bf16 ? 2 * rows * columns : 0;
  // Per thread: scores, two values per row, output.
  to.forward.push_back(
      {.name = "flash attention",
       .n = e,
       .r = 4,
       .other = int64_t{q.threads} *
                (4 * rows * (columns + 2 + q.d_head) + narrowed)});
  // Per thread: weights and their gradient. What each thread takes for itself
  // while it works, a value per row, is seen by the memory probe on the calling
  // thread alone, and counted for that one.
  const int64_t own = 4 * rows;
  to.backward.push_back(
      {.name = "flash attention backward",
       .n = 4 * e,
       .r = 4,
       .other =
           int64_t{q.threads} * (8 * rows * columns + 2 * narrowed) + own});
}

// The kernels for GPUs sum q's gradient in fp32 where it is narrower, flash in
// tiles of 128 x 32, and keep one sum per row.
void AddCudaFused(const AttentionQuery& q, const AttentionSymbols& s,
                  AttentionPeakCandidates& to) {
  to.forward.push_back({.name = "fused attention", .n = s.e, .r = 4});
  const int64_t sums =
      q.bf16 ? 4 * q.batch * RoundUp(q.seq, 128) * RoundUp(q.d_head, 32) : 0;
  to.backward.push_back({.name = "fused attention backward",
                         .n = 4 * s.e,
                         .r = 8,
                         .other = sums});
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

AttentionPeakCandidates PeakCandidatesOf(const AttentionQuery& query) {
  const AttentionSymbols s = SymbolsOf(query);
  AttentionPeakCandidates candidates;
  candidates.forward.push_back(EndOfForward(query));
  if (!query.backend) {
    AddNaive(query, s.e, candidates);
  } else if (*query.backend == SdpaBackend::kMath) {
    AddMath(s.e, candidates);
  } else if (query.on_cpu) {
    AddCpuFlash(query, s.e, candidates);
  } else {
    AddCudaFused(query, s, candidates);
  }
  return candidates;
}

int64_t BytesOf(const AttentionPeakCandidate& candidate,
                const AttentionSymbols& s) {
  return candidate.s * s.S + candidate.n * s.N + candidate.m * s.M +
         candidate.r * s.R + candidate.other;
}

}  // namespace trainbench
