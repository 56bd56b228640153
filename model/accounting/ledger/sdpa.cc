// SPDX-License-Identifier: MIT
// LibTorch's scaled dot-product attention.

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/accounting/ledger/attention.h"

namespace trainbench::ledger {
namespace {

using enum TensorType;

int64_t CeilDiv(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

int64_t RoundUp(int64_t value, int64_t multiple) {
  return CeilDiv(value, multiple) * multiple;
}

// Of LibTorch's flash attention for CPUs, which works on tiles of `rows` x
// `columns` (aten/src/ATen/native/cpu/FlashAttentionKernel.cpp).
AttentionKernels CpuFlashKernels(const AttentionSizes& z) {
  const int64_t tile_rows = z.seq >= 768 ? 256 : z.seq >= 192 ? 64 : 32;
  const int64_t rows = std::min(tile_rows, z.seq);
  const int64_t columns = std::min<int64_t>(512, z.seq);
  const TensorSize narrowed = {"", z.threads * rows * columns};
  const int64_t tile = narrowed.elements;
  // Scores, two values per row, output.
  const int64_t forward = tile + z.threads * rows * (2 + z.d_head);
  return {.forward =
              [=](AttentionScene& s) {
                const Tensor floats =
                    s.Floats("tiles of the threads", {"", forward});
                if (s.sizes.bf16) s.Make("bf16 tiles", narrowed, kBfloat16);
              },
          // Weights and their gradient. What each thread takes for itself while
          // it works, a value per row, is seen by the memory probe on the
          // calling thread alone, and counted for that one.
          .backward =
              [=](AttentionScene& s) {
                Heads to = MakeGradients(s);
                const Tensor floats =
                    s.Floats("tiles of the threads", {"", 2 * tile});
                Tensor narrow;
                if (s.sizes.bf16) {
                  narrow = s.Make("bf16 tiles", {"", 2 * tile}, kBfloat16);
                }
                s.Floats("row sums of a tile", {"", rows});
                return to;
              }};
}

// Into how many parts flash attention cuts the keys of its forward pass to
// occupy a GPU that has few rows to work on (aten/src/ATen/native/transformers/
// cuda/flash_attn/flash_api.cpp, num_splits_heuristic).
int64_t FlashSplits(const AttentionSizes& z) {
  const int64_t columns = z.d_head <= 64 ? 256 : z.d_head <= 128 ? 128 : 64;
  const int64_t key_tiles = CeilDiv(z.seq, columns);
  const auto tiles = static_cast<double>(z.sequences() * CeilDiv(z.seq, 64));
  const double places = 2.0 * z.multiprocessors;
  if (tiles >= 0.8 * places) return 1;
  const int64_t most =
      std::min<int64_t>({128, 2 * z.multiprocessors, key_tiles});
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

GradientBuffer BufferOfFlash(const AttentionSizes& z) {
  return {128, z.d_head <= 128 ? 32 : 64, false};
}

// The kernels for GPUs keep one sum per row and another in the backward pass.
AttentionKernels CudaKernels(const AttentionSizes& z,
                             const GradientBuffer& buffer) {
  const int64_t summed = z.bf16 || buffer.always
                             ? z.sequences() * RoundUp(z.seq, buffer.row_tile) *
                                   RoundUp(z.d_head, buffer.column_tile)
                             : 0;
  AttentionKernels kernels;
  kernels.backward = [=](AttentionScene& s) {
    Heads to = MakeGradients(s);
    const Tensor sums = s.Floats("sums of the gradient", s.rows);
    if (summed > 0) s.Floats("fp32 gradient of q", {"", summed});
    return to;
  };
  return kernels;
}

AttentionResult Fused(AttentionScene& s, const Heads& in,
                      const AttentionKernels& kernels) {
  AttentionResult result = LogSumExpMemory(s, in, kernels);
  result.merged = in.merged;  // the output lies as q does
  result.merged_v_gradient = true;
  return result;
}

}  // namespace

// LibTorch widens bf16 inputs and computes in fp32.
AttentionResult SdpaMathMemory(AttentionScene& s, const Heads& in) {
  s.component = Component::kFusedAttention;
  const bool bf16 = s.sizes.bf16;
  Heads wide = in;
  if (bf16) {
    wide = {s.Floats("widened q", s.projection),
            s.Floats("widened k", s.projection),
            s.Floats("widened v", s.projection)};
  }
  const Tensor scaled_q = s.Floats("scaled q", s.projection);
  Tensor seen = s.Make("ones", s.mask, kBool);
  seen = s.Make("causal mask", s.mask, kBool);
  const Tensor mask = s.Floats("mask as numbers", s.mask);
  seen.Reset();
  Tensor k = s.Floats("scaled k", s.projection);
  Tensor q = scaled_q, scores;
  {
    const Tensor scaled_k = k;
    if (in.merged) {
      q = s.Separated(q, "scaled q", kFloat);
      k = s.Separated(k, "scaled k", kFloat);
    }
    scores = s.Floats("scores", s.scores);
    q = s.Save(q);
    k = s.Save(k);
  }
  Tensor weights = s.Floats("weights", s.scores);
  {
    const Tensor hidden = s.Make("hidden scores", s.scores, kBool);
    s.Make("hidden rows", s.rows, kBool);
  }
  scores.Reset();
  const Tensor narrow =
      bf16 ? s.Make("bf16 weights", s.scores, kBfloat16) : Tensor();
  Tensor v = s.Separated(wide.v, "v", kFloat);
  AttentionResult result = {s.Floats("output", s.projection)};
  result.transposed_k_gradient = true;
  v = s.Save(v);
  if (bf16) result.output = s.Make("output", s.projection, kBfloat16);
  if (!s.sizes.graph) return result;
  result.backward = [&s, bf16, q, k, v, weights](Tensor gradient) mutable {
    s.Enter("fused attention backward");
    s.component = Component::kFusedAttention;
    if (bf16) gradient = s.Floats("fp32 gradient of the output", s.projection);
    gradient = s.Separated(gradient, "gradient of the output", kFloat);
    Tensor of_v = s.Floats("gradient of v", s.projection);
    Tensor of_weights = s.Floats("gradient of the weights", s.scores);
    Free(gradient, v);
    {
      // A GPU first multiplies the gradient with the weights.
      const Tensor product =
          s.sizes.on_cpu ? Tensor() : s.Floats("gradient x weights", s.scores);
      of_weights = s.Floats("gradient of the scores", s.scores);
    }
    weights.Reset();
    Heads to = {s.Floats("gradient of scaled q", s.projection),
                s.Floats("gradient of scaled k", s.projection),
                std::move(of_v)};
    Free(of_weights, k, q);
    to.k = s.Floats("gradient of k", s.projection);
    to.q = s.Floats("gradient of q", s.projection);
    if (bf16) {
      to.v = s.Make("gradient of v", s.projection, kBfloat16);
      to.k = s.Make("gradient of k", s.projection, kBfloat16);
      to.q = s.Make("gradient of q", s.projection, kBfloat16);
    }
    return to;
  };
  return result;
}

AttentionResult SdpaFlashMemory(AttentionScene& s, const Heads& in) {
  if (s.sizes.on_cpu) return Fused(s, in, CpuFlashKernels(s.sizes));
  const GradientBuffer buffer = BufferOfFlash(s.sizes);
  AttentionKernels kernels = CudaKernels(s.sizes, buffer);
  const int64_t splits = s.sizes.multiprocessors > 0 ? FlashSplits(s.sizes) : 1;
  if (splits > 1) {
    // Each part has its own output and sums.
    const int64_t columns = RoundUp(s.sizes.d_head, buffer.column_tile) + 1;
    kernels.forward = [=](AttentionScene& at) {
      at.Floats("parts", {"", splits * at.rows.elements * columns});
    };
  }
  return Fused(s, in, kernels);
}

AttentionResult SdpaEfficientMemory(AttentionScene& s, const Heads& in) {
  const int64_t tile = s.sizes.d_head <= 64 ? 64 : 128;
  AttentionResult result = Fused(
      s, in,
      CudaKernels(s.sizes, {tile, s.sizes.d_head <= 128 ? tile : 64, true}));
  if (!s.sizes.bf16) result.merged = true;
  return result;
}

AttentionResult SdpaCudnnMemory(AttentionScene& s, const Heads& in) {
  return Fused(s, in, CudaKernels(s.sizes, BufferOfFlash(s.sizes)));
}

// LibTorch's choice: flash attention, and for fp32 on a GPU efficient.
AttentionResult SdpaMemory(AttentionScene& s, const Heads& in) {
  return s.sizes.on_cpu || s.sizes.bf16 ? SdpaFlashMemory(s, in)
                                        : SdpaEfficientMemory(s, in);
}

}  // namespace trainbench::ledger
