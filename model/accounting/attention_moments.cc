// SPDX-License-Identifier: MIT

#include "model/accounting/attention_moments.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "model/accounting/emulated_bf16.h"

namespace trainbench {
namespace {

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// oneDNN's scratch for a result of rows x columns.
int64_t Scratch(const AttentionQuery& q, int64_t rows, int64_t columns) {
  const bool emulated = q.bf16 && q.on_cpu && q.emulated_bf16;
  return emulated ? EmulatedBf16Scratch(rows, columns) : 0;
}

// The same for a batch of them, of which each thread has one in work.
int64_t BatchScratch(const AttentionQuery& q, int64_t columns) {
  return std::min(ThreadsOf(q), q.batch) * Scratch(q, q.seq, columns);
}

void AddNaive(const AttentionQuery& q, int64_t e, AttentionMoments& to) {
  // exp(scores) and the quotient, and with bf16 the narrowed weights.
  to.forward.push_back(
      {.name = "softmax", .s = q.bf16 ? 10 : 8, .m = 1, .r = 12});
  // The weights' gradient, in bf16 after the saved weights are gone.
  to.backward.push_back({.name = "backward of the product with v",
                         .s = 4 + 2 * e,
                         .n = 2 * e,
                         .m = 1,
                         .r = 12,
                         .other = BatchScratch(q, q.seq)});
  // exp(scores), the weights' gradient and four tensors of the quotient's
  // derivative, all fp32; the saved weights are gone. The output and v's
  // gradient are there.
  to.backward.push_back(
      {.name = "softmax backward", .s = 24, .n = 2 * e, .m = 1, .r = 12});
  to.backward.push_back({.name = "gradients of q and k",
                         .s = e,
                         .n = 4 * e,
                         .other = BatchScratch(q, q.d_head)});
}

// LibTorch widens bf16 inputs and computes in fp32 (w: 1 if so).
void AddMath(int64_t e, AttentionMoments& to) {
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
void AddCpuFlash(const AttentionQuery& q, int64_t e, AttentionMoments& to) {
  const int64_t tile_rows = q.seq >= 768 ? 256 : q.seq >= 192 ? 64 : 32;
  const int64_t rows = std::min(tile_rows, q.seq);
  const int64_t columns = std::min<int64_t>(512, q.seq);
  const int64_t narrowed = q.bf16 ? 2 * rows * columns : 0;
  // Per thread: scores, two values per row, output.
  to.forward.push_back(
      {.name = "flash attention",
       .n = e,
       .r = 4,
       .other =
           ThreadsOf(q) * (4 * rows * (columns + 2 + q.d_head) + narrowed)});
  // Per thread: weights and their gradient. What each thread takes for itself
  // while it works (a value per row, scratch of a product) is seen by the
  // memory probe on the calling thread alone, and counted for that one.
  const int64_t own = 4 * rows + Scratch(q, columns, q.d_head);
  to.backward.push_back(
      {.name = "flash attention backward",
       .n = 4 * e,
       .r = 4,
       .other = ThreadsOf(q) * (8 * rows * columns + 2 * narrowed) + own});
}

// The kernels for GPUs sum q's gradient in fp32 where it is narrower, flash in
// tiles of 128 x 32, and keep one sum per row.
void AddCudaFused(const AttentionQuery& q, const AttentionSymbols& s,
                  AttentionMoments& to) {
  to.forward.push_back({.name = "fused attention", .n = s.e, .r = 4});
  const int64_t sums =
      q.bf16 ? 4 * q.batch * RoundUp(q.seq, 128) * RoundUp(q.d_head, 32) : 0;
  to.backward.push_back({.name = "fused attention backward",
                         .n = 4 * s.e,
                         .r = 8,
                         .other = sums});
}

}  // namespace

AttentionSymbols SymbolsOf(const AttentionQuery& q) {
  const int64_t rows = q.batch * q.seq;
  return {.S = rows * q.seq,
          .N = rows * q.d_head,
          .M = q.seq * q.seq,
          .R = rows,
          .e = q.bf16 ? 2 : 4};
}

int64_t ThreadsOf(const AttentionQuery& q) {
  return q.threads > 0 ? q.threads : at::get_num_threads();
}

bool IsFused(const AttentionQuery& q) {
  return q.backend && *q.backend != SdpaBackend::kMath;
}

AttentionMoment SavedMoment(const AttentionQuery& q) {
  const char* const name = "end of the forward pass";
  const int64_t e = SymbolsOf(q).e;
  if (IsFused(q)) return {.name = name, .n = e, .r = 4};
  if (q.backend) return {.name = name, .s = 4, .n = e + (q.bf16 ? 12 : 8)};
  return {.name = name, .s = 4 + e, .n = e, .m = 1, .r = 12};
}

AttentionMoments MomentsOf(const AttentionQuery& query) {
  const AttentionSymbols s = SymbolsOf(query);
  AttentionMoment saved = SavedMoment(query);
  // The last product, of which the scratch is still there.
  if (!query.backend) saved.other += BatchScratch(query, query.d_head);
  AttentionMoments moments;
  moments.forward.push_back(saved);
  if (!query.backend) {
    AddNaive(query, s.e, moments);
  } else if (*query.backend == SdpaBackend::kMath) {
    AddMath(s.e, moments);
  } else if (query.on_cpu) {
    AddCpuFlash(query, s.e, moments);
  } else {
    AddCudaFused(query, s, moments);
  }
  return moments;
}

int64_t BytesOf(const AttentionMoment& moment, const AttentionSymbols& s) {
  return moment.s * s.S + moment.n * s.N + moment.m * s.M + moment.r * s.R +
         moment.other;
}

}  // namespace trainbench
