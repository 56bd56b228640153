// SPDX-License-Identifier: MIT
// The forward pass in bf16.

#ifndef TRAINBENCH_MODEL_KERNELS_FLASH_BF16_FORWARD_CUH_
#define TRAINBENCH_MODEL_KERNELS_FLASH_BF16_FORWARD_CUH_

#include "model/kernels/device.h"
#include "model/kernels/flash/attention.h"
#include "model/kernels/flash/bf16_tile.cuh"
#include "model/kernels/flash/block.cuh"
#include "model/kernels/reduce.cuh"

namespace trainbench::kernels {

// A block has kRows queries, 32 per warp, and iterates over the keys that they
// attend to, kColumns at a time; while one tile is multiplied, the next is
// copied. With 16 queries per warp, each ldmatrix of keys or values would feed
// only two products, and shared memory could supply only a quarter of the
// tensor cores' throughput; with 32 it feeds four.
template <int kHead, class Mask = FlashMask>
struct FlashBf16Forward {
  using Args = FlashForwardArgs;
  using Tile = Bf16Tile<kHead>;
  static constexpr int kTiles = 2;
  static constexpr int kWarps = 4;
  static constexpr int kRows = 16 * kTiles * kWarps;
  static constexpr int kColumns = kHead == 128 ? 32 : 64;
  // Queries stay in registers if there are enough registers.
  static constexpr bool kKeepQueries = kHead <= 64;
  static constexpr int kMaxThreads = kWarps * kWarp;
  static constexpr int kBlocksPerSm = kHead <= 32 ? 3 : 2;
  static constexpr int kQueryBytes = kRows * Tile::kRowBytes;
  static constexpr int kKeyBytes = kColumns * Tile::kRowBytes;
  static constexpr int kSharedBytes = kQueryBytes + 4 * kKeyBytes;
  static_assert(FitTogether(kBlocksPerSm, kSharedBytes));

  using Scores = Accumulators<kTiles, kColumns>;
  using Output = Accumulators<kTiles, kHead>;
  using Queries = uint32_t[Tile::kSteps][kTiles][4];

  // Values of a thread's rows, by tile and half: the largest score so far, and
  // the sum of exp(scale (score - top)), to which four lanes contribute.
  struct Rows {
    float top[kTiles][2];
    float sum[kTiles][2];
  };

  static TRAINBENCH_DEVICE int Keys(int stage) {
    return kQueryBytes + 2 * stage * kKeyBytes;
  }
  static TRAINBENCH_DEVICE int Values(int stage) {
    return Keys(stage) + kKeyBytes;
  }

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    const FlashShape& shape = a.shape;
    const FlashBlock block = FlashBlock::Of(d, shape, kRows, shape.causal);
    const int warp_row = d.Thread() / kWarp * 16 * kTiles;
    const int64_t last = LastKeyOf<Mask>(shape, block.first, kRows);
    const int tiles = CeilDivide(last + 1, kColumns);
    FetchRows<Tile, kMaxThreads, kRows>(d, 0, block.Of<Bf16>(a.q), block.first,
                                        shape);
    Fetch(d, a, block, 0);
    Queries queries;
    Output output;
    Rows rows;
    TRAINBENCH_UNROLL
    for (int i = 0; i < 2 * kTiles; ++i) {
      rows.top[i / 2][i % 2] = kUnseen;
      rows.sum[i / 2][i % 2] = 0;
    }
    for (int tile = 0; tile < tiles; ++tile) {
      d.template Wait<0>();
      d.SyncBlock();
      if (tile + 1 < tiles) Fetch(d, a, block, tile + 1);
      if (kKeepQueries && tile == 0) {
        TRAINBENCH_UNROLL
        for (int i = 0; i < Tile::kSteps * kTiles; ++i) {
          const int t = i % kTiles;
          Tile::LoadRows(d, 0, warp_row + 16 * t, i / kTiles,
                         queries[i / kTiles][t]);
        }
      }
      Scores scores = Multiply(d, queries, warp_row, Keys(tile % 2));
      const int column = tile * kColumns;
      if (column + kColumns - 1 > Mask::LastKey(shape, block.first)) {
        Hide(d, shape, block.first + warp_row, column, scores);
      }
      Renew(d, shape.scale * kLog2E, scores, rows, output);
      Tile::TimesRows(d, scores, Values(tile % 2), output);
    }
    Finish(d, a, block, block.first + warp_row, rows, output);
  }

  template <class D>
  static TRAINBENCH_DEVICE void Fetch(const D& d, const Args& a,
                                      const FlashBlock& block, int tile) {
    FetchBoth<Tile, kMaxThreads, kColumns>(
        d, Keys(tile % 2), block.Of<Bf16>(a.k), block.Of<Bf16>(a.v),
        tile * kColumns, a.shape);
    d.Commit();
  }

  template <class D>
  static TRAINBENCH_DEVICE Scores Multiply(const D& d, const Queries& queries,
                                           int row, int keys) {
    if constexpr (kKeepQueries) {
      Scores scores;
      Tile::TimesTransposed(
          d,
          [&](int step, uint32_t(&to)[kTiles][4]) {
            std::memcpy(to, queries[step], sizeof(to));
          },
          keys, scores);
      return scores;
    } else {
      return Tile::template Product<kTiles, kColumns>(d, 0, row, keys);
    }
  }

  template <class D>
  static TRAINBENCH_DEVICE void Hide(const D& d, const FlashShape& shape,
                                     int row, int column, Scores& scores) {
    const int lane = d.Thread() % kWarp;
    TRAINBENCH_UNROLL
    for (int t = 0; t < kTiles; ++t) {
      TRAINBENCH_UNROLL
      for (int e = 0; e < 4; ++e) {
        const int last = Mask::LastKey(shape, row + Scores::Row(lane, t, e));
        TRAINBENCH_UNROLL
        for (int n = 0; n < kColumns / 8; ++n) {
          if (column + Scores::Column(lane, n, e) > last) {
            scores.at[t][n][e] = kUnseen;
          }
        }
      }
    }
  }

  // Replaces scores by exp(scale (score - top)), with the maxima of all scores
  // so far, and rescales earlier sums and output to the new maxima.
  template <class D>
  static TRAINBENCH_DEVICE void Renew(const D& d, float scale, Scores& scores,
                                      Rows& rows, Output& output) {
    TRAINBENCH_UNROLL
    for (int i = 0; i < 2 * kTiles; ++i) {
      const int t = i / 2;
      const int half = i % 2;
      float top = rows.top[t][half];
      TRAINBENCH_UNROLL
      for (int n = 0; n < kColumns / 8; ++n) {
        top = Max::Of(top, scores.at[t][n][2 * half]);
        top = Max::Of(top, scores.at[t][n][2 * half + 1]);
      }
      top = WarpReduce<Max, 4>(d, top);
      const float shrink = d.Exp2((rows.top[t][half] - top) * scale);
      rows.top[t][half] = top;
      float sum = 0;
      TRAINBENCH_UNROLL
      for (int n = 0; n < kColumns / 8; ++n) {
        TRAINBENCH_UNROLL
        for (int e = 2 * half; e < 2 * half + 2; ++e) {
          float& score = scores.at[t][n][e];
          score = d.Exp2(score * scale - top * scale);
          sum += score;
        }
      }
      rows.sum[t][half] = rows.sum[t][half] * shrink + sum;
      TRAINBENCH_UNROLL
      for (int n = 0; n < kHead / 8; ++n) {
        output.at[t][n][2 * half] *= shrink;
        output.at[t][n][2 * half + 1] *= shrink;
      }
    }
  }

  template <class D>
  static TRAINBENCH_DEVICE void Finish(const D& d, const Args& a,
                                       const FlashBlock& block, int row,
                                       Rows& rows, const Output& output) {
    const int lane = d.Thread() % kWarp;
    TRAINBENCH_UNROLL
    for (int i = 0; i < 2 * kTiles; ++i) {
      const int t = i / 2;
      const int half = i % 2;
      const float sum = WarpReduce<Sum, 4>(d, rows.sum[t][half]);
      rows.sum[t][half] = 1 / sum;
      const int mine = row + Output::Row(lane, t, 2 * half);
      if (mine < a.shape.seq && lane % 4 == 0) {
        d.Store(a.log_sum + block.Row(a.shape) + mine,
                rows.top[t][half] * a.shape.scale + d.Log(sum));
      }
    }
    StoreRows(d, output, block.Of<Bf16>(a.o), row, a.shape,
              [&](int t, int half) { return rows.sum[t][half]; });
  }
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_FLASH_BF16_FORWARD_CUH_
