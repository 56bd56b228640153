// SPDX-License-Identifier: MIT
// The backward pass in bf16.

#ifndef TRAINBENCH_MODEL_KERNELS_FLASH_BF16_BACKWARD_CUH_
#define TRAINBENCH_MODEL_KERNELS_FLASH_BF16_BACKWARD_CUH_

#include "model/kernels/device.h"
#include "model/kernels/flash/attention.h"
#include "model/kernels/flash/bf16_tile.cuh"
#include "model/kernels/flash/block.cuh"

namespace trainbench::kernels {

// Each block computes the gradients of kKeys keys and values and adds their
// part of the queries' gradients. It iterates over the queries that attend to
// them, kQueries at a time, and computes the transposed scores, so that a warp
// has the probabilities of its keys in registers as the first factor of grad_v
// and grad_k. Only grad_q, a sum over all keys, needs them in shared memory.
template <int kHead, class Mask = FlashMask>
struct FlashBf16Backward {
  using Args = FlashBackwardArgs;
  using Tile = Bf16Tile<kHead>;
  // With 128 channels, the gradients of 16 keys already fill 128 registers.
  static constexpr int kTiles = kHead == 128 ? 1 : 2;
  static constexpr int kWarps = kHead == 128 ? 8 : 4;
  static constexpr int kKeys = 16 * kTiles * kWarps;
  static constexpr int kQueries = kHead == 64 ? 32 : 64;
  static constexpr int kMaxThreads = kWarps * kWarp;
  static constexpr int kBlocksPerSm = kHead == 128 ? 1 : 2;
  static constexpr int kKeyBytes = kKeys * Tile::kRowBytes;
  static constexpr int kQueryBytes = kQueries * Tile::kRowBytes;
  using SlopeTile = Bf16Tile<kQueries>;  // ds^T: one row per key

  static constexpr int kValuesAt = kKeyBytes;
  static constexpr int kSlopesAt = 2 * kKeyBytes;
  static constexpr int kStagesAt = kSlopesAt + kKeys * SlopeTile::kRowBytes;
  // Queries, grad_o, and log_sum and delta of each query.
  static constexpr int kStageBytes = 2 * kQueryBytes + 8 * kQueries;
  static constexpr int kSharedBytes = kStagesAt + 2 * kStageBytes;
  static_assert(FitTogether(kBlocksPerSm, kSharedBytes));

  using Scores = Accumulators<kTiles, kQueries>;
  using Gradient = Accumulators<kTiles, kHead>;

  static TRAINBENCH_DEVICE int QueriesAt(int stage) {
    return kStagesAt + stage * kStageBytes;
  }
  static TRAINBENCH_DEVICE int GradsAt(int stage) {
    return QueriesAt(stage) + kQueryBytes;
  }
  static TRAINBENCH_DEVICE int RowsAt(int stage) {
    return GradsAt(stage) + kQueryBytes;
  }

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    const FlashShape& shape = a.shape;
    const FlashBlock block =
        FlashBlock::Of(d, shape, kKeys, /*last_first=*/false);
    const int warp_row = d.Thread() / kWarp * 16 * kTiles;
    const int first_tile = shape.causal ? block.first / kQueries : 0;
    const int tiles = CeilDivide(shape.seq, kQueries);
    FetchBoth<Tile, kMaxThreads, kKeys>(
        d, 0, block.Of<Bf16>(a.k), block.Of<Bf16>(a.v), block.first, shape);
    Fetch(d, a, block, first_tile);
    Gradient grad_k;
    Gradient grad_v;
    for (int tile = first_tile; tile < tiles; ++tile) {
      d.template Wait<0>();
      d.SyncBlock();
      if (tile + 1 < tiles) Fetch(d, a, block, tile + 1);
      const int stage = tile % 2;
      Scores p = Tile::template Product<kTiles, kQueries>(d, 0, warp_row,
                                                          QueriesAt(stage));
      Probabilities(d, shape, block.first + warp_row, tile, p);
      Tile::TimesRows(d, p, GradsAt(stage), grad_v);
      Scores slopes = Tile::template Product<kTiles, kQueries>(
          d, kValuesAt, warp_row, GradsAt(stage));
      Slopes(d, RowsAt(stage), p, slopes);
      Tile::TimesRows(d, slopes, QueriesAt(stage), grad_k);
      StoreSlopes(d, warp_row, slopes);
      d.SyncBlock();
      AddQueryGradient(d, a, block, tile * kQueries);
    }
    const int row = block.first + warp_row;
    StoreRows(d, grad_k, block.Of<Bf16>(a.grad_k), row, shape,
              [&](int, int) { return shape.scale; });
    StoreRows(d, grad_v, block.Of<Bf16>(a.grad_v), row, shape,
              [](int, int) { return 1.0f; });
  }

  template <class D>
  static TRAINBENCH_DEVICE void Fetch(const D& d, const Args& a,
                                      const FlashBlock& block, int tile) {
    const int stage = tile % 2;
    const int first = tile * kQueries;
    FetchBoth<Tile, kMaxThreads, kQueries>(
        d, QueriesAt(stage), block.Of<Bf16>(a.q), block.Of<Bf16>(a.grad_o),
        first, a.shape);
    d.Commit();
    StoreSums<kQueries>(d, RowsAt(stage), a, block, first);
  }

  // Loads the values for a thread's two queries in columns n at once.
  template <class D>
  static TRAINBENCH_DEVICE Vector<float, 2> OfQueries(const D& d, int at,
                                                      int n) {
    const int column = Scores::Column(d.Thread() % kWarp, n, 0);
    return d.template LoadShared<Vector<float, 2>>(at + 4 * column);
  }

  // exp(scale score - log_sum), or 0 if the query does not attend to the key.
  template <class D>
  static TRAINBENCH_DEVICE void Probabilities(const D& d,
                                              const FlashShape& shape, int row,
                                              int tile, Scores& p) {
    const int lane = d.Thread() % kWarp;
    const int first = tile * kQueries;
    const bool hides = row + 16 * kTiles - 1 > Mask::LastKey(shape, first);
    TRAINBENCH_UNROLL
    for (int n = 0; n < kQueries / 8; ++n) {
      const auto log_sum = OfQueries(d, RowsAt(tile % 2), n);
      TRAINBENCH_UNROLL
      for (int i = 0; i < 4 * kTiles; ++i) {
        const int t = i / 4;
        const int e = i % 4;
        float& x = p.at[t][n][e];
        x = d.Exp2(x * (shape.scale * kLog2E) - log_sum.at[e % 2]);
        const int query = first + Scores::Column(lane, n, e);
        if (hides &&
            row + Scores::Row(lane, t, e) > Mask::LastKey(shape, query)) {
          x = 0;
        }
      }
    }
  }

  // Replaces dp by ds = p (dp - delta).
  template <class D>
  static TRAINBENCH_DEVICE void Slopes(const D& d, int rows, const Scores& p,
                                       Scores& dp) {
    TRAINBENCH_UNROLL
    for (int n = 0; n < kQueries / 8; ++n) {
      const auto delta = OfQueries(d, rows + 4 * kQueries, n);
      TRAINBENCH_UNROLL
      for (int i = 0; i < 4 * kTiles; ++i) {
        float& x = dp.at[i / 4][n][i % 4];
        x = p.at[i / 4][n][i % 4] * (x - delta.at[i % 2]);
      }
    }
  }

  template <class D>
  static TRAINBENCH_DEVICE void StoreSlopes(const D& d, int row,
                                            const Scores& slopes) {
    const int lane = d.Thread() % kWarp;
    TRAINBENCH_UNROLL
    for (int i = 0; i < 2 * kTiles; ++i) {
      const int t = i / 2;
      const int e = i % 2 * 2;
      const int key = row + Scores::Row(lane, t, e);
      TRAINBENCH_UNROLL
      for (int n = 0; n < kQueries / 8; ++n) {
        const float(&x)[4] = slopes.at[t][n];
        d.StoreShared(SlopeTile::At(kSlopesAt, key, n) + lane % 4 * 4,
                      d.Pack2(x[e], x[e + 1]));
      }
    }
  }

  // grad_q += ds k. The warps divide the queries and, if there are fewer tiles
  // of queries than warps, the channels.
  template <class D>
  static TRAINBENCH_DEVICE void AddQueryGradient(const D& d, const Args& a,
                                                 const FlashBlock& block,
                                                 int first) {
    constexpr int kRowWarps = kQueries / 16 < kWarps ? kQueries / 16 : kWarps;
    constexpr int kColumns = kHead / (kWarps / kRowWarps);
    static_assert(kQueries == 16 * kRowWarps && kColumns % 16 == 0);
    using Part = Accumulators<1, kColumns>;
    const int lane = d.Thread() % kWarp;
    const int warp = d.Thread() / kWarp;
    const int row = warp % kRowWarps * 16;
    const int column = warp / kRowWarps * kColumns;
    Part part;
    TRAINBENCH_UNROLL
    for (int step = 0; step < kKeys / 16; ++step) {
      uint32_t slopes[1][4];
      const int key = step * 16 + lane % 8 + lane / 16 * 8;
      d.LoadMatrix4Transposed(
          slopes[0], SlopeTile::At(kSlopesAt, key, row / 8 ^ lane / 8 % 2));
      Tile::AddRows(d, slopes, 0, step * 16, part, column / 8);
    }
    TRAINBENCH_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int query = first + row + Part::Row(lane, 0, e);
      if (query >= a.shape.seq) continue;
      float* const to =
          a.grad_q_sum +
          (block.Row(a.shape) + query) * RowWidth<kHead>(a.shape) + column;
      TRAINBENCH_UNROLL
      for (int n = 0; n < kColumns / 8; ++n) {
        if (!HasChannel<kHead>(a.shape, column + 8 * n)) continue;
        d.AtomicAdd(to + Part::Column(lane, n, e), part.at[0][n][e]);
      }
    }
  }
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_FLASH_BF16_BACKWARD_CUH_
