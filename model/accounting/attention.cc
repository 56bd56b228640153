// SPDX-License-Identifier: MIT

#include "model/accounting/attention.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"

namespace trainbench {
namespace {

constexpr int64_t kUncountable = std::numeric_limits<int64_t>::max();

int64_t ThreadsOf(const AttentionQuery& q) {
  return q.threads > 0 ? q.threads : at::get_num_threads();
}

// The symbols of the header.
struct Symbols {
  int64_t S, N, M, R, e;
};

Symbols SymbolsOf(const AttentionQuery& q) {
  const int64_t rows = q.batch * q.seq;
  return {.S = rows * q.seq,
          .N = rows * q.d_head,
          .M = q.seq * q.seq,
          .R = rows,
          .e = q.bf16 ? 2 : 4};
}

// No symbol counts more than 64 times, padding and buffers included.
bool IsCountable(const AttentionQuery& q) {
  const auto seq = static_cast<double>(q.seq) + 1024;
  const double columns = seq + static_cast<double>(q.d_head);
  const double rows = (static_cast<double>(q.batch + ThreadsOf(q))) * seq;
  return 64 * rows * columns < 0x1p62;
}

bool IsFused(const AttentionQuery& q) {
  return q.backend && *q.backend != SdpaBackend::kMath;
}

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

AttentionMoment Saved(const AttentionQuery& q) {
  const char* const name = "end of the forward pass";
  const int64_t e = SymbolsOf(q).e;
  if (IsFused(q)) return {.name = name, .n = e, .r = 4};
  if (q.backend) return {.name = name, .s = 4, .n = e + (q.bf16 ? 12 : 8)};
  return {.name = name, .s = 4 + e, .n = e, .m = 1, .r = 12};
}

int64_t BytesOf(const AttentionMoment& moment, const Symbols& s) {
  return moment.s * s.S + moment.n * s.N + moment.m * s.M + moment.r * s.R +
         moment.other;
}

// oneDNN's scratch for a result of rows x columns.
int64_t Scratch(const AttentionQuery& q, int64_t rows, int64_t columns) {
  const bool emulated = q.bf16 && q.on_cpu && q.emulated_bf16;
  return emulated ? 4 * rows * columns + 128 : 0;
}

// The same for a batch of them, of which each thread has one in work.
int64_t BatchScratch(const AttentionQuery& q, int64_t columns) {
  return std::min(ThreadsOf(q), q.batch) * Scratch(q, q.seq, columns);
}

using Moments = std::vector<AttentionMoment>;

void AddNaive(const AttentionQuery& q, int64_t e, Moments& forward,
              Moments& backward) {
  // exp(scores) and the quotient, and with bf16 the narrowed weights.
  forward.push_back({.name = "softmax", .s = q.bf16 ? 10 : 8, .m = 1, .r = 12});
  // The weights' gradient, in bf16 after the saved weights are gone.
  backward.push_back({.name = "backward of the product with v",
                      .s = 4 + 2 * e,
                      .n = 2 * e,
                      .m = 1,
                      .r = 12,
                      .other = BatchScratch(q, q.seq)});
  // exp(scores), the weights' gradient and four tensors of the quotient's
  // derivative, all fp32; the saved weights are gone. The output and v's
  // gradient are there.
  backward.push_back(
      {.name = "softmax backward", .s = 24, .n = 2 * e, .m = 1, .r = 12});
  backward.push_back({.name = "gradients of q and k",
                      .s = e,
                      .n = 4 * e,
                      .other = BatchScratch(q, q.d_head)});
}

// LibTorch widens bf16 inputs and computes in fp32 (w: 1 if so).
void AddMath(int64_t e, Moments& forward, Moments& backward) {
  const int64_t w = e == 2 ? 1 : 0;
  // Scores, weights, which rows are masked out; the mask as numbers; scaled q
  // and k; the widened inputs.
  forward.push_back(
      {.name = "softmax", .s = 9, .n = 8 + 12 * w, .m = 4, .r = 1});
  // The output, with bf16 in both widths, beside the weights in both.
  forward.push_back(
      {.name = "product with v", .s = 4 + 2 * w, .n = 12 + 14 * w, .m = 4});
  const int64_t saved = e + 8 + 4 * w;
  backward.push_back({.name = "backward of the product with v",
                      .s = 8,
                      .n = saved + 4 + 4 * w});
  backward.push_back({.name = "softmax backward", .s = 12, .n = e + 8 + 4});
  backward.push_back({.name = "gradients of q and k", .s = 4, .n = e + 20});
}

// LibTorch's flash attention for CPUs works on tiles of `rows` x `columns`
// (aten/src/ATen/native/cpu/FlashAttentionKernel.cpp).
void AddCpuFlash(const AttentionQuery& q, int64_t e, Moments& forward,
                 Moments& backward) {
  const int64_t tile_rows = q.seq >= 768 ? 256 : q.seq >= 192 ? 64 : 32;
  const int64_t rows = std::min(tile_rows, q.seq);
  const int64_t columns = std::min<int64_t>(512, q.seq);
  const int64_t narrowed = q.bf16 ? 2 * rows * columns : 0;
  // Per thread: scores, two values per row, output.
  forward.push_back(
      {.name = "flash attention",
       .n = e,
       .r = 4,
       .other =
           ThreadsOf(q) * (4 * rows * (columns + 2 + q.d_head) + narrowed)});
  // Per thread: weights and their gradient. What each thread takes for itself
  // while it works (a value per row, scratch of a product) is seen by the
  // memory probe on the calling thread alone, and counted for that one.
  const int64_t own = 4 * rows + Scratch(q, columns, q.d_head);
  backward.push_back(
      {.name = "flash attention backward",
       .n = 4 * e,
       .r = 4,
       .other = ThreadsOf(q) * (8 * rows * columns + 2 * narrowed) + own});
}

// The kernels for GPUs sum q's gradient in fp32 where it is narrower, flash in
// tiles of 128 x 32, and keep one sum per row.
void AddCudaFused(const AttentionQuery& q, const Symbols& s, Moments& forward,
                  Moments& backward) {
  forward.push_back({.name = "fused attention", .n = s.e, .r = 4});
  const int64_t sums =
      q.bf16 ? 4 * q.batch * RoundUp(q.seq, 128) * RoundUp(q.d_head, 32) : 0;
  backward.push_back({.name = "fused attention backward",
                      .n = 4 * s.e,
                      .r = 8,
                      .other = sums});
}

AttentionMoment Highest(Moments moments, const AttentionQuery& q) {
  const Symbols s = SymbolsOf(q);
  for (AttentionMoment& moment : moments) {
    moment.bytes = BytesOf(moment, s) + 4 * s.e * s.N;
  }
  return *std::max_element(
      moments.begin(), moments.end(),
      [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
}

std::string LargestTerm(const AttentionMoment& moment, const Symbols& s) {
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
  return BytesOf(Saved(query), SymbolsOf(query));
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
  const Symbols s = SymbolsOf(query);
  memory.input_bytes = 4 * s.e * s.N;
  memory.saved_bytes = AttentionSavedBytes(query);
  AttentionMoment saved = Saved(query);
  // The last product, of which the scratch is still there.
  if (!query.backend) saved.other += BatchScratch(query, query.d_head);
  Moments forward = {saved}, backward;
  if (!query.backend) {
    AddNaive(query, s.e, forward, backward);
  } else if (*query.backend == SdpaBackend::kMath) {
    AddMath(s.e, forward, backward);
  } else if (query.on_cpu) {
    AddCpuFlash(query, s.e, forward, backward);
  } else {
    AddCudaFused(query, s, forward, backward);
  }
  memory.forward_peak = Highest(forward, query);
  backward.push_back(memory.forward_peak);
  memory.peak = Highest(std::move(backward), query);
  memory.largest_term = LargestTerm(memory.peak, s);
  return memory;
}

}  // namespace trainbench
