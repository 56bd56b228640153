// SPDX-License-Identifier: MIT
// The gradient of queries in bf16, deterministic.

#ifndef TRAINBENCH_MODEL_KERNELS_FLASH_BF16_BACKWARD_QUERIES_CUH_
#define TRAINBENCH_MODEL_KERNELS_FLASH_BF16_BACKWARD_QUERIES_CUH_

#include "model/kernels/device.h"
#include "model/kernels/flash/attention.h"
#include "model/kernels/flash/bf16_tile.cuh"
#include "model/kernels/flash/block.cuh"

namespace trainbench::kernels {

// As in the forward pass, a block has kRows queries, 32 per warp, and iterates
// over the keys that they attend to.
template <int kHead, class Mask = FlashMask>
struct FlashBf16BackwardQueries {
  using Args = FlashBackwardArgs;
  using Tile = Bf16Tile<kHead>;
  static constexpr int kTiles = 2;
  static constexpr int kWarps = 4;
  static constexpr int kRows = 16 * kTiles * kWarps;
  static constexpr int kColumns = kHead == 128 ? 32 : 64;
  static constexpr int kMaxThreads = kWarps * kWarp;
  static constexpr int kBlocksPerSm = 2;
  static constexpr int kQueryBytes = kRows * Tile::kRowBytes;
  static constexpr int kKeyBytes = kColumns * Tile::kRowBytes;
  static constexpr int kSharedBytes = 2 * kQueryBytes + 4 * kKeyBytes;
  static_assert(FitTogether(kBlocksPerSm, kSharedBytes));

  using Scores = Accumulators<kTiles, kColumns>;
  using Gradient = Accumulators<kTiles, kHead>;

  // The sums of a thread's rows, by tile and half.
  using Sums = QuerySums[kTiles][2];

  static TRAINBENCH_DEVICE int Keys(int stage) {
    return 2 * kQueryBytes + 2 * stage * kKeyBytes;
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
    FetchBoth<Tile, kMaxThreads, kRows>(d, 0, block.Of<Bf16>(a.q),
                                        block.Of<Bf16>(a.grad_o), block.first,
                                        shape.seq);
    Fetch(d, a, block, 0);
    const int lane = d.Thread() % kWarp;
    Sums sums;
    TRAINBENCH_UNROLL
    for (int i = 0; i < 2 * kTiles; ++i) {
      const int row = warp_row + Scores::Row(lane, i / 2, i % 2 * 2);
      sums[i / 2][i % 2] = LoadSums(d, a, block, block.first + row);
    }
    Gradient grad_q;
    for (int tile = 0; tile < tiles; ++tile) {
      d.template Wait<0>();
      d.SyncBlock();
      if (tile + 1 < tiles) Fetch(d, a, block, tile + 1);
      Scores p = Tile::template Product<kTiles, kColumns>(d, 0, warp_row,
                                                          Keys(tile % 2));
      Scores slopes = Tile::template Product<kTiles, kColumns>(
          d, kQueryBytes, warp_row, Values(tile % 2));
      Slopes(d, shape, block.first, warp_row, tile * kColumns, sums, p, slopes);
      Tile::TimesRows(d, slopes, Keys(tile % 2), grad_q);
    }
    StoreRows(d, grad_q, block.Of<Bf16>(a.grad_q), block.first + warp_row,
              shape.seq, [&](int, int) { return shape.scale; });
  }

  template <class D>
  static TRAINBENCH_DEVICE void Fetch(const D& d, const Args& a,
                                      const FlashBlock& block, int tile) {
    FetchBoth<Tile, kMaxThreads, kColumns>(
        d, Keys(tile % 2), block.Of<Bf16>(a.k), block.Of<Bf16>(a.v),
        tile * kColumns, a.shape.seq);
    d.Commit();
  }

  // Replaces dp by ds = p (dp - delta), where p = exp(scale score - log_sum).
  template <class D>
  static TRAINBENCH_DEVICE void Slopes(const D& d, const FlashShape& shape,
                                       int first, int warp_row, int column,
                                       const Sums& sums, const Scores& scores,
                                       Scores& dp) {
    const int lane = d.Thread() % kWarp;
    const bool hides = column + kColumns - 1 > Mask::LastKey(shape, first);
    TRAINBENCH_UNROLL
    for (int i = 0; i < 4 * kTiles; ++i) {
      const int t = i / 4;
      const int e = i % 4;
      const int last =
          Mask::LastKey(shape, first + warp_row + Scores::Row(lane, t, e));
      TRAINBENCH_UNROLL
      for (int n = 0; n < kColumns / 8; ++n) {
        const float p = d.Exp2(scores.at[t][n][e] * (shape.scale * kLog2E) -
                               sums[t][e / 2].log_sum);
        float& x = dp.at[t][n][e];
        x = p * (x - sums[t][e / 2].delta);
        if (hides && column + Scores::Column(lane, n, e) > last) x = 0;
      }
    }
  }
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_FLASH_BF16_BACKWARD_QUERIES_CUH_
