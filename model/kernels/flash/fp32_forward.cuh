// SPDX-License-Identifier: MIT
// The forward pass in fp32.

#ifndef TRAINBENCH_MODEL_KERNELS_FLASH_FP32_FORWARD_CUH_
#define TRAINBENCH_MODEL_KERNELS_FLASH_FP32_FORWARD_CUH_

#include "model/kernels/device.h"
#include "model/kernels/flash/attention.h"
#include "model/kernels/flash/block.cuh"
#include "model/kernels/flash/fp32_tile.cuh"
#include "model/kernels/reduce.cuh"

namespace trainbench::kernels {

// A block has kRows queries and iterates over the keys that they attend to,
// kColumns at a time. Each warp rearranges its probabilities in shared memory.
template <int kHead, class Mask = FlashMask>
struct FlashFp32Forward : Fp32Threads {
  using Args = FlashForwardArgs;
  using Tile = Fp32Tile<kHead>;
  static constexpr int kColumns = 64;
  static constexpr int kKeysAt = kRows * Tile::kRowBytes;
  static constexpr int kValuesAt = kKeysAt + kColumns * Tile::kRowBytes;
  static constexpr int kScoresAt = kValuesAt + kColumns * Tile::kRowBytes;
  static constexpr int kSharedBytes = kScoresAt + kRows * kColumns * 4;
  static_assert(FitTogether(kBlocksPerSm, kSharedBytes));
  using Scores = Fp32Scores<kColumns>;

  // Values of a thread's rows: the largest score so far, and the sum of
  // exp(scale (score - top)), to which 16 lanes contribute.
  struct Rows {
    float top[kOwn];
    float sum[kOwn];
  };

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    const FlashShape& shape = a.shape;
    const FlashBlock block = FlashBlock::Of(d, shape, kRows, shape.causal);
    const int64_t last = LastKeyOf<Mask>(shape, block.first, kRows);
    FetchRows<Tile, kMaxThreads, kRows>(d, 0, block.Of<float>(a.q), block.first,
                                        shape);
    Fp32Rows<kHead> output;
    Rows rows;
    TRAINBENCH_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      rows.top[i] = kUnseen;
      rows.sum[i] = 0;
    }
    for (int column = 0; column <= last; column += kColumns) {
      FetchBoth<Tile, kMaxThreads, kColumns>(d, kKeysAt, block.Of<float>(a.k),
                                             block.Of<float>(a.v), column,
                                             shape);
      d.Commit();
      d.template Wait<0>();
      d.SyncBlock();
      Scores scores;
      Tile::TimesTransposed(d, 0, kKeysAt, scores);
      if (column + kColumns - 1 > Mask::LastKey(shape, block.first)) {
        Hide(d, shape, block.first, column, scores);
      }
      Renew(d, shape.scale * kLog2E, scores, rows, output);
      scores.Store(d, kScoresAt);
      d.SyncWarp();
      Tile::template TimesRows<kColumns>(d, kScoresAt, kValuesAt, output);
      d.SyncBlock();
    }
    Finish(d, a, block, rows, output);
  }

  template <class D>
  static TRAINBENCH_DEVICE void Hide(const D& d, const FlashShape& shape,
                                     int first, int column, Scores& scores) {
    TRAINBENCH_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      const int last = Mask::LastKey(shape, first + Row(d) + i);
      TRAINBENCH_UNROLL
      for (int j = 0; j < Scores::kEach; ++j) {
        if (column + Scores::Column(d, j) > last) scores.at[i][j] = kUnseen;
      }
    }
  }

  // Replaces scores by exp(scale (score - top)), with the maxima of all scores
  // so far, and rescales earlier sums and output to the new maxima.
  template <class D>
  static TRAINBENCH_DEVICE void Renew(const D& d, float scale, Scores& scores,
                                      Rows& rows, Fp32Rows<kHead>& output) {
    TRAINBENCH_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      float top = rows.top[i];
      TRAINBENCH_UNROLL
      for (int j = 0; j < Scores::kEach; ++j)
        top = Max::Of(top, scores.at[i][j]);
      top = WarpReduce<Max, kAcross>(d, top);
      const float shrink = d.Exp2((rows.top[i] - top) * scale);
      rows.top[i] = top;
      rows.sum[i] *= shrink;
      TRAINBENCH_UNROLL
      for (int j = 0; j < Scores::kEach; ++j) {
        scores.at[i][j] = d.Exp2((scores.at[i][j] - top) * scale);
        rows.sum[i] += scores.at[i][j];
      }
      TRAINBENCH_UNROLL
      for (int e = 0; e < Fp32Rows<kHead>::kEach; ++e) {
        output.at[i][e / Fp32Rows<kHead>::kWide][e % Fp32Rows<kHead>::kWide] *=
            shrink;
      }
    }
  }

  template <class D>
  static TRAINBENCH_DEVICE void Finish(const D& d, const Args& a,
                                       const FlashBlock& block,
                                       const Rows& rows,
                                       const Fp32Rows<kHead>& output) {
    float inverse[kOwn];
    TRAINBENCH_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      const float sum = WarpReduce<Sum, kAcross>(d, rows.sum[i]);
      inverse[i] = 1 / sum;
      const int row = block.first + Row(d) + i;
      if (row < a.shape.seq && X(d) == 0) {
        d.Store(a.log_sum + block.Row(a.shape) + row,
                rows.top[i] * a.shape.scale + d.Log(sum));
      }
    }
    output.Store(d, block.Of<float>(a.o), block.first, a.shape,
                 [&](int i) { return inverse[i]; });
  }
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_FLASH_FP32_FORWARD_CUH_
