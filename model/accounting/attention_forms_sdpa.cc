// SPDX-License-Identifier: MIT
// The forms of LibTorch's scaled dot-product attention.

#include <algorithm>
#include <cmath>

#include "model/accounting/attention_forms.h"

namespace trainbench {
namespace {

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// LibTorch's flash attention for CPUs works on tiles of `rows` x `columns`
// (aten/src/ATen/native/cpu/FlashAttentionKernel.cpp).
void AddCpuFlash(const AttentionQuery& q, AttentionForm& to) {
  const int64_t e = SymbolsOf(q).e;
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

int64_t CeilDiv(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

// Into how many parts flash attention cuts the keys of its forward pass to
// occupy a GPU that has few rows to work on (aten/src/ATen/native/transformers/
// cuda/flash_attn/flash_api.cpp, num_splits_heuristic).
int64_t FlashSplits(const AttentionQuery& q) {
  const int64_t columns = q.d_head <= 64 ? 256 : q.d_head <= 128 ? 128 : 64;
  const int64_t key_tiles = CeilDiv(q.seq, columns);
  const auto tiles = static_cast<double>(q.batch * CeilDiv(q.seq, 64));
  const double places = 2.0 * q.multiprocessors;
  if (tiles >= 0.8 * places) return 1;
  const int64_t most =
      std::min<int64_t>({128, 2 * q.multiprocessors, key_tiles});
  const auto efficiency = [&](int64_t splits) {
    // Not if fewer parts have tiles enough for the same longest part.
    if (splits > 1 &&
        CeilDiv(key_tiles, splits) == CeilDiv(key_tiles, splits - 1)) {
      return 0.0;
    }
    const double waves = tiles * static_cast<double>(splits) / places;
    return waves / std::ceil(waves);
  };
  double best = 0;
  for (int64_t splits = 1; splits <= most; ++splits) {
    best = std::max(best, efficiency(splits));
  }
  int64_t splits = 1;
  while (splits < most && efficiency(splits) < 0.85 * best) ++splits;
  return splits;
}

// Rows and columns of the fp32 buffer in which a kernel for GPUs sums q's
// gradient, and whether it does so if that is fp32 itself.
struct GradientBuffer {
  int64_t row_tile, column_tile;
  bool always;
};

// The kernels for GPUs keep one sum per row and another in the backward pass.
void AddCudaFused(const AttentionQuery& q, const GradientBuffer& buffer,
                  AttentionForm& to) {
  const AttentionSymbols s = SymbolsOf(q);
  const int64_t columns = RoundUp(q.d_head, buffer.column_tile);
  const bool summed = q.bf16 || buffer.always;
  to.forward.push_back({.name = "fused attention", .n = s.e, .r = 4});
  to.backward.push_back(
      {.name = "fused attention backward",
       .n = 4 * s.e,
       .r = 8,
       .other = summed ? 4 * q.batch * RoundUp(q.seq, buffer.row_tile) * columns
                       : 0});
}

GradientBuffer BufferOfFlash(const AttentionQuery& q) {
  return {128, q.d_head <= 128 ? 32 : 64, false};
}

}  // namespace

// LibTorch widens bf16 inputs and computes in fp32 (w: 1 if so).
AttentionForm SdpaMathForm(const AttentionQuery& q) {
  using enum AttentionSize;
  const auto kept = [](const char* name, AttentionSize size) {
    return AttentionTensor{name, Component::kFusedAttention, size, "float"};
  };
  const int64_t e = SymbolsOf(q).e, w = q.bf16 ? 1 : 0;
  AttentionForm form;
  form.saved = {kept("scaled q", kInput), kept("scaled k", kInput),
                kept("weights", kScores)};
  if (q.bf16) form.saved.push_back(kept("widened v", kInput));
  form.inputs_kept = q.bf16 ? 0 : 1;
  // Scores, weights, which rows are masked out; the mask as numbers; scaled q
  // and k; the widened inputs.
  form.forward.push_back(
      {.name = "softmax", .s = 9, .n = 8 + 12 * w, .m = 4, .r = 1});
  form.inference = form.forward;
  // The output, with bf16 in both widths, beside the weights in both.
  form.forward.push_back(
      {.name = "product with v", .s = 4 + 2 * w, .n = 12 + 14 * w, .m = 4});
  const int64_t saved = e + 8 + 4 * w;
  form.backward.push_back({.name = "backward of the product with v",
                           .s = 8,
                           .n = saved + 4 + 4 * w,
                           .released = 3});
  // A GPU first multiplies the gradient with the weights.
  form.backward.push_back({.name = "softmax backward",
                           .s = q.on_cpu ? 12 : 16,
                           .n = e + 8 + 4,
                           .released = 5});
  form.backward.push_back(
      {.name = "gradients of q and k", .s = 4, .n = e + 20, .released = 5});
  return form;
}

AttentionForm SdpaFlashForm(const AttentionQuery& q) {
  AttentionForm form = LogSumExpForm(q);
  if (q.on_cpu) {
    AddCpuFlash(q, form);
    return form;
  }
  AddCudaFused(q, BufferOfFlash(q), form);
  const int64_t splits = q.multiprocessors > 0 ? FlashSplits(q) : 1;
  if (splits > 1) {
    // Each part has its own output and sums.
    const int64_t columns = RoundUp(q.d_head, BufferOfFlash(q).column_tile);
    form.forward.back().other = splits * 4 * SymbolsOf(q).R * (columns + 1);
  }
  return form;
}

AttentionForm SdpaEfficientForm(const AttentionQuery& q) {
  AttentionForm form = LogSumExpForm(q);
  const int64_t tile = q.d_head <= 64 ? 64 : 128;
  AddCudaFused(q, {tile, q.d_head <= 128 ? tile : 64, true}, form);
  form.merges_heads = !q.bf16;
  return form;
}

AttentionForm SdpaCudnnForm(const AttentionQuery& q) {
  AttentionForm form = LogSumExpForm(q);
  AddCudaFused(q, BufferOfFlash(q), form);
  return form;
}

// LibTorch's choice: flash attention, and for fp32 on a GPU efficient.
AttentionForm SdpaForm(const AttentionQuery& q) {
  return q.on_cpu || q.bf16 ? SdpaFlashForm(q) : SdpaEfficientForm(q);
}

}  // namespace trainbench
