// SPDX-License-Identifier: MIT
// Products of fp32 tiles in shared memory, without tensor cores.

#ifndef TRAINBENCH_MODEL_KERNELS_FLASH_FP32_TILE_CUH_
#define TRAINBENCH_MODEL_KERNELS_FLASH_FP32_TILE_CUH_

#include "model/kernels/device.h"
#include "model/kernels/flash/block.cuh"

namespace trainbench::kernels {

// 128 threads in 8 rows of 16: thread (y, x) computes rows 8 y to 8 y + 7 of a
// product, so each warp has 16 rows that no other warp has.
struct Fp32Threads {
  static constexpr int kMaxThreads = 128;
  static constexpr int kBlocksPerSm = 2;
  static constexpr int kAcross = 16;
  static constexpr int kOwn = 8;
  static constexpr int kRows = kMaxThreads / kAcross * kOwn;

  template <class D>
  static TRAINBENCH_DEVICE int X(const D& d) {
    return d.Thread() % kAcross;
  }
  template <class D>
  static TRAINBENCH_DEVICE int Row(const D& d) {
    return d.Thread() / kAcross * kOwn;
  }
};

// Columns x, x + 16, ... of kOwn rows.
template <int kColumns>
struct Fp32Scores {
  static constexpr int kEach = kColumns / Fp32Threads::kAcross;
  float at[Fp32Threads::kOwn][kEach] = {};

  template <class D>
  static TRAINBENCH_DEVICE int Column(const D& d, int j) {
    return Fp32Threads::X(d) + Fp32Threads::kAcross * j;
  }

  // Stores the scores as rows of a tile.
  template <class D>
  TRAINBENCH_DEVICE void Store(const D& d, int tile) const {
    using Tile = FlashTile<4 * kColumns>;
    TRAINBENCH_UNROLL
    for (int i = 0; i < Fp32Threads::kOwn; ++i) {
      TRAINBENCH_UNROLL
      for (int j = 0; j < kEach; ++j) {
        const int column = Column(d, j);
        d.StoreShared(Tile::At(tile, Fp32Threads::Row(d) + i, column / 4) +
                          column % 4 * 4,
                      at[i][j]);
      }
    }
  }
};

// kOwn rows of kHead channels. A thread has pieces of kWide channels, adjacent
// to the pieces of the neighboring threads.
template <int kHead, int kOwn = Fp32Threads::kOwn>
struct Fp32Rows {
  static constexpr int kEach = kHead / Fp32Threads::kAcross;
  static constexpr int kWide = kEach < 4 ? kEach : 4;
  static constexpr int kPieces = kEach / kWide;
  float at[kOwn][kPieces][kWide] = {};

  template <class D>
  static TRAINBENCH_DEVICE int Column(const D& d, int piece) {
    return (piece * Fp32Threads::kAcross + Fp32Threads::X(d)) * kWide;
  }

  // Stores the rows before `shape.seq`, times the row's `factor`, in a tensor.
  template <class D, class Factor>
  TRAINBENCH_DEVICE void Store(const D& d, const HeadRows<float>& to, int first,
                               const FlashShape& shape,
                               const Factor& factor) const {
    TRAINBENCH_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      const int row = first + Fp32Threads::Row(d) + i;
      if (row >= shape.seq) continue;
      const float by = factor(i);
      TRAINBENCH_UNROLL
      for (int piece = 0; piece < kPieces; ++piece) {
        if (!HasChannel<kHead>(shape, Column(d, piece))) continue;
        float x[kWide];
        TRAINBENCH_UNROLL
        for (int e = 0; e < kWide; ++e) x[e] = at[i][piece][e] * by;
        StoreNarrow(d, to.Row(row) + Column(d, piece), x);
      }
    }
  }
};

template <int kHead>
struct Fp32Tile : FlashTile<4 * kHead> {
  using FlashTile<4 * kHead>::At;
  using FlashTile<4 * kHead>::kChunks;
  using Four = Vector<float, 4>;
  static constexpr int kWidth = kHead;
  static constexpr int kOwn = Fp32Threads::kOwn;

  // c += a b^T, summed over the channels, for the tiles a and b.
  template <int kColumns, class D>
  static TRAINBENCH_DEVICE void TimesTransposed(const D& d, int a, int b,
                                                Fp32Scores<kColumns>& c) {
    using Scores = Fp32Scores<kColumns>;
    TRAINBENCH_UNROLL_BY(2)
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      Four columns[Scores::kEach];
      TRAINBENCH_UNROLL
      for (int j = 0; j < Scores::kEach; ++j) {
        columns[j] =
            d.template LoadShared<Four>(At(b, Scores::Column(d, j), chunk));
      }
      TRAINBENCH_UNROLL
      for (int i = 0; i < kOwn; ++i) {
        const auto row =
            d.template LoadShared<Four>(At(a, Fp32Threads::Row(d) + i, chunk));
        TRAINBENCH_UNROLL
        for (int j = 0; j < Scores::kEach; ++j) {
          TRAINBENCH_UNROLL
          for (int e = 0; e < 4; ++e) {
            c.at[i][j] += row.at[e] * columns[j].at[e];
          }
        }
      }
    }
  }

  // c += a b, summed over kSum columns of a, a tile with rows of 4 kSum bytes,
  // and over kSum rows of the tile b.
  template <int kSum, class D>
  static TRAINBENCH_DEVICE void TimesRows(const D& d, int a, int b,
                                          Fp32Rows<kHead>& c) {
    TRAINBENCH_UNROLL_BY(1)
    for (int chunk = 0; chunk < kSum / 4; ++chunk) {
      Four rows[kOwn];
      TRAINBENCH_UNROLL
      for (int i = 0; i < kOwn; ++i) {
        rows[i] = d.template LoadShared<Four>(
            FlashTile<4 * kSum>::At(a, Fp32Threads::Row(d) + i, chunk));
      }
      TRAINBENCH_UNROLL
      for (int k = 0; k < 4; ++k) {
        float factors[kOwn];
        TRAINBENCH_UNROLL
        for (int i = 0; i < kOwn; ++i) factors[i] = rows[i].at[k];
        AddRow(d, factors, b, 4 * chunk + k, c);
      }
    }
  }

  // c[i] += factors[i] times row `row` of the tile b.
  template <int kRows, class D>
  static TRAINBENCH_DEVICE void AddRow(const D& d,
                                       const float (&factors)[kRows], int b,
                                       int row, Fp32Rows<kHead, kRows>& c) {
    using Rows = Fp32Rows<kHead, kRows>;
    TRAINBENCH_UNROLL
    for (int piece = 0; piece < Rows::kPieces; ++piece) {
      const int column = Rows::Column(d, piece);
      const auto x = d.template LoadShared<Vector<float, Rows::kWide>>(
          At(b, row, column / 4) + column % 4 * 4);
      TRAINBENCH_UNROLL
      for (int i = 0; i < kRows; ++i) {
        TRAINBENCH_UNROLL
        for (int e = 0; e < Rows::kWide; ++e) {
          c.at[i][piece][e] += factors[i] * x.at[e];
        }
      }
    }
  }
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_FLASH_FP32_TILE_CUH_
