// SPDX-License-Identifier: MIT
// The backward pass in fp32.

#ifndef TRAINBENCH_MODEL_KERNELS_FLASH_FP32_BACKWARD_CUH_
#define TRAINBENCH_MODEL_KERNELS_FLASH_FP32_BACKWARD_CUH_

#include "model/kernels/device.h"
#include "model/kernels/flash/attention.h"
#include "model/kernels/flash/block.cuh"
#include "model/kernels/flash/fp32_tile.cuh"

namespace trainbench::kernels {

// As FlashBf16Backward, also with transposed scores; the probabilities and then
// their slopes use the same shared memory.
template <int kHead, class Mask = FlashMask>
struct FlashFp32Backward : Fp32Threads {
  using Args = FlashBackwardArgs;
  using Tile = Fp32Tile<kHead>;
  static constexpr int kKeys = kRows;
  static constexpr int kQueries = kHead == 128 ? 32 : 64;
  static constexpr int kValuesAt = kKeys * Tile::kRowBytes;
  static constexpr int kQueriesAt = 2 * kValuesAt;
  static constexpr int kGradsAt = kQueriesAt + kQueries * Tile::kRowBytes;
  static constexpr int kScoresAt = kGradsAt + kQueries * Tile::kRowBytes;
  // log_sum and delta of each query.
  static constexpr int kRowsAt = kScoresAt + kKeys * kQueries * 4;
  static constexpr int kSharedBytes = kRowsAt + 8 * kQueries;
  static_assert(FitTogether(kBlocksPerSm, kSharedBytes));
  using Scores = Fp32Scores<kQueries>;

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    const FlashShape& shape = a.shape;
    const FlashBlock block =
        FlashBlock::Of(d, shape, kKeys, /*last_first=*/false);
    FetchBoth<Tile, kMaxThreads, kKeys>(
        d, 0, block.Of<float>(a.k), block.Of<float>(a.v), block.first, shape);
    Fp32Rows<kHead> grad_k;
    Fp32Rows<kHead> grad_v;
    int first = shape.causal ? block.first / kQueries * kQueries : 0;
    for (; first < shape.seq; first += kQueries) {
      Fetch(d, a, block, first);
      d.template Wait<0>();
      d.SyncBlock();
      Scores p;
      Tile::TimesTransposed(d, 0, kQueriesAt, p);
      Probabilities(d, shape, block.first, first, p);
      p.Store(d, kScoresAt);
      d.SyncWarp();
      Tile::template TimesRows<kQueries>(d, kScoresAt, kGradsAt, grad_v);
      Scores slopes;
      Tile::TimesTransposed(d, kValuesAt, kGradsAt, slopes);
      Slopes(d, p, slopes);
      d.SyncWarp();
      slopes.Store(d, kScoresAt);
      d.SyncWarp();
      Tile::template TimesRows<kQueries>(d, kScoresAt, kQueriesAt, grad_k);
      d.SyncBlock();
      AddQueryGradient(d, a, block, first);
      d.SyncBlock();
    }
    grad_k.Store(d, block.Of<float>(a.grad_k), block.first, shape,
                 [&](int) { return shape.scale; });
    grad_v.Store(d, block.Of<float>(a.grad_v), block.first, shape,
                 [](int) { return 1.0f; });
  }

  template <class D>
  static TRAINBENCH_DEVICE void Fetch(const D& d, const Args& a,
                                      const FlashBlock& block, int first) {
    FetchBoth<Tile, kMaxThreads, kQueries>(d, kQueriesAt, block.Of<float>(a.q),
                                           block.Of<float>(a.grad_o), first,
                                           a.shape);
    d.Commit();
    StoreSums<kQueries>(d, kRowsAt, a, block, first);
  }

  // exp(scale score - log_sum), or 0 if the query does not attend to the key.
  template <class D>
  static TRAINBENCH_DEVICE void Probabilities(const D& d,
                                              const FlashShape& shape,
                                              int first_key, int first_query,
                                              Scores& p) {
    TRAINBENCH_UNROLL
    for (int j = 0; j < Scores::kEach; ++j) {
      const int column = Scores::Column(d, j);
      const auto log_sum = d.template LoadShared<float>(kRowsAt + 4 * column);
      const int last = Mask::LastKey(shape, first_query + column);
      TRAINBENCH_UNROLL
      for (int i = 0; i < kOwn; ++i) {
        const bool seen = first_key + Row(d) + i <= last;
        const float x = p.at[i][j] * (shape.scale * kLog2E) - log_sum;
        p.at[i][j] = seen ? d.Exp2(x) : 0.0f;
      }
    }
  }

  // Replaces dp by ds = p (dp - delta).
  template <class D>
  static TRAINBENCH_DEVICE void Slopes(const D& d, const Scores& p,
                                       Scores& dp) {
    TRAINBENCH_UNROLL
    for (int j = 0; j < Scores::kEach; ++j) {
      const auto delta = d.template LoadShared<float>(
          kRowsAt + 4 * (kQueries + Scores::Column(d, j)));
      TRAINBENCH_UNROLL
      for (int i = 0; i < kOwn; ++i) {
        dp.at[i][j] = p.at[i][j] * (dp.at[i][j] - delta);
      }
    }
  }

  // grad_q += ds k, with kQueries / 8 queries per thread.
  template <class D>
  static TRAINBENCH_DEVICE void AddQueryGradient(const D& d, const Args& a,
                                                 const FlashBlock& block,
                                                 int first) {
    constexpr int kMine = kQueries * kAcross / kMaxThreads;
    using Rows = Fp32Rows<kHead, kMine>;
    const int row = d.Thread() / kAcross * kMine;
    Rows part;
    for (int key = 0; key < kKeys; ++key) {
      float slopes[kMine];
      TRAINBENCH_UNROLL
      for (int i = 0; i < kMine; i += 4) {
        const auto four = d.template LoadShared<Vector<float, 4>>(
            FlashTile<4 * kQueries>::At(kScoresAt, key, (row + i) / 4));
        TRAINBENCH_UNROLL
        for (int e = 0; e < 4; ++e) slopes[i + e] = four.at[e];
      }
      Tile::AddRow(d, slopes, 0, key, part);
    }
    TRAINBENCH_UNROLL
    for (int i = 0; i < kMine; ++i) {
      const int query = first + row + i;
      if (query >= a.shape.seq) continue;
      float* const to = a.grad_q_sum +
                        (block.Row(a.shape) + query) * RowWidth<kHead>(a.shape);
      TRAINBENCH_UNROLL
      for (int e = 0; e < Rows::kEach; ++e) {
        const int piece = e / Rows::kWide;
        const int column = Rows::Column(d, piece) + e % Rows::kWide;
        if (!HasChannel<kHead>(a.shape, column)) continue;
        d.AtomicAdd(to + column, part.at[i][piece][e % Rows::kWide]);
      }
    }
  }
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_FLASH_FP32_BACKWARD_CUH_
