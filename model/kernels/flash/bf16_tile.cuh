// SPDX-License-Identifier: MIT
// Products of bf16 tiles in shared memory, on tensor cores.

#ifndef TRAINBENCH_MODEL_KERNELS_FLASH_BF16_TILE_CUH_
#define TRAINBENCH_MODEL_KERNELS_FLASH_BF16_TILE_CUH_

#include "model/kernels/device.h"
#include "model/kernels/flash/block.cuh"

namespace trainbench::kernels {

// Accumulators of a warp: kTiles of 16 rows, in tiles of 8 columns with the
// layout of Mma(): element e of tile [t][n] is row 16 t + lane / 4 + 8 (e / 2),
// column 8 n + 2 (lane % 4) + e % 2.
template <int kTiles, int kColumns>
struct Accumulators {
  float at[kTiles][kColumns / 8][4] = {};

  static TRAINBENCH_DEVICE int Row(int lane, int tile, int e) {
    return 16 * tile + lane / 4 + e / 2 * 8;
  }
  static TRAINBENCH_DEVICE int Column(int lane, int n, int e) {
    return 8 * n + lane % 4 * 2 + e % 2;
  }
};

// A tile with rows of kChannels channels.
template <int kChannels>
struct Bf16Tile : FlashTile<2 * kChannels> {
  using FlashTile<2 * kChannels>::At;
  static constexpr int kWidth = kChannels;
  static constexpr int kSteps = kChannels / 16;

  // Loads 16 rows from `row` on as the first factor of step `step` over the
  // channels.
  template <class D>
  static TRAINBENCH_DEVICE void LoadRows(const D& d, int tile, int row,
                                         int step, uint32_t (&to)[4]) {
    const int lane = d.Thread() % kWarp;
    d.LoadMatrix4(to, At(tile, row + lane % 16, 2 * step ^ lane / 16));
  }

  // c += a b^T, summed over the channels. load_a(step, to) loads the first
  // factor; b is a tile, starting at its first row.
  template <int kTiles, int kColumns, class D, class LoadA>
  static TRAINBENCH_DEVICE void TimesTransposed(
      const D& d, const LoadA& load_a, int b,
      Accumulators<kTiles, kColumns>& c) {
    const int lane = d.Thread() % kWarp;
    TRAINBENCH_UNROLL
    for (int step = 0; step < kSteps; ++step) {
      uint32_t rows[kTiles][4];
      load_a(step, rows);
      TRAINBENCH_UNROLL
      for (int n = 0; n < kColumns / 16; ++n) {
        uint32_t columns[4];
        const int row = n * 16 + lane % 8 + lane / 16 * 8;
        d.LoadMatrix4(columns, At(b, row, 2 * step ^ lane / 8 % 2));
        TRAINBENCH_UNROLL
        for (int t = 0; t < kTiles; ++t) {
          d.Mma(c.at[t][2 * n], rows[t], columns[0], columns[1]);
          d.Mma(c.at[t][2 * n + 1], rows[t], columns[2], columns[3]);
        }
      }
    }
  }

  // a b^T, summed over the channels, for 16 kTiles rows of the tile a from
  // `row` on and kColumns rows of the tile b.
  template <int kTiles, int kColumns, class D>
  static TRAINBENCH_DEVICE Accumulators<kTiles, kColumns> Product(const D& d,
                                                                  int a,
                                                                  int row,
                                                                  int b) {
    Accumulators<kTiles, kColumns> c;
    TimesTransposed(
        d,
        [&](int step, uint32_t(&to)[kTiles][4]) {
          TRAINBENCH_UNROLL
          for (int t = 0; t < kTiles; ++t) {
            LoadRows(d, a, row + 16 * t, step, to[t]);
          }
        },
        b, c);
    return c;
  }

  // c += a b, summed over the columns of a, which is rounded to bf16, and the
  // rows of the tile b.
  template <int kTiles, int kColumns, class D>
  static TRAINBENCH_DEVICE void TimesRows(
      const D& d, const Accumulators<kTiles, kColumns>& a, int b,
      Accumulators<kTiles, kChannels>& c) {
    TRAINBENCH_UNROLL
    for (int step = 0; step < kColumns / 16; ++step) {
      uint32_t rows[kTiles][4];
      TRAINBENCH_UNROLL
      for (int t = 0; t < kTiles; ++t) {
        TRAINBENCH_UNROLL
        for (int i = 0; i < 4; ++i) {
          const float(&pairs)[4] = a.at[t][2 * step + i / 2];
          rows[t][i] = d.Pack2(pairs[i % 2 * 2], pairs[i % 2 * 2 + 1]);
        }
      }
      AddRows(d, rows, b, 16 * step, c);
    }
  }

  // c += a b for 16 columns of a and 16 rows of b from `row` on; c has the
  // columns of b from chunk `chunk` on.
  template <int kTiles, int kColumns, class D>
  static TRAINBENCH_DEVICE void AddRows(const D& d,
                                        const uint32_t (&a)[kTiles][4], int b,
                                        int row,
                                        Accumulators<kTiles, kColumns>& c,
                                        int chunk = 0) {
    const int lane = d.Thread() % kWarp;
    TRAINBENCH_UNROLL
    for (int n = 0; n < kColumns / 16; ++n) {
      uint32_t columns[4];
      d.LoadMatrix4Transposed(
          columns, At(b, row + lane % 16, (chunk + 2 * n) ^ lane / 16));
      TRAINBENCH_UNROLL
      for (int t = 0; t < kTiles; ++t) {
        d.Mma(c.at[t][2 * n], a[t], columns[0], columns[1]);
        d.Mma(c.at[t][2 * n + 1], a[t], columns[2], columns[3]);
      }
    }
  }
};

// Stores the accumulators, times the row's `factor`, as rows of a tensor; rows
// from `seq` on are skipped. `row` is the row of the warp's first accumulator.
template <int kTiles, int kColumns, class D, class Factor>
TRAINBENCH_DEVICE void StoreRows(const D& d,
                                 const Accumulators<kTiles, kColumns>& c,
                                 const HeadRows<Bf16>& to, int row,
                                 const FlashShape& shape,
                                 const Factor& factor) {
  using Layout = Accumulators<kTiles, kColumns>;
  const int lane = d.Thread() % kWarp;
  TRAINBENCH_UNROLL
  for (int t = 0; t < kTiles; ++t) {
    TRAINBENCH_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int mine = row + Layout::Row(lane, t, 2 * half);
      if (mine >= shape.seq) continue;
      const float by = factor(t, half);
      TRAINBENCH_UNROLL
      for (int n = 0; n < kColumns / 8; ++n) {
        if (!HasChannel<kColumns>(shape, 8 * n)) continue;
        const float(&x)[4] = c.at[t][n];
        const uint32_t pair = d.Pack2(x[2 * half] * by, x[2 * half + 1] * by);
        Bf16* const at = to.Row(mine) + Layout::Column(lane, n, 0);
        d.Store(reinterpret_cast<uint32_t*>(at), pair);
      }
    }
  }
}

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_FLASH_BF16_TILE_CUH_
