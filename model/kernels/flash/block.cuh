// SPDX-License-Identifier: MIT
// Code that the fp32 and bf16 kernels of FlashAttention share.

#ifndef TRAINBENCH_MODEL_KERNELS_FLASH_BLOCK_CUH_
#define TRAINBENCH_MODEL_KERNELS_FLASH_BLOCK_CUH_

#include "model/kernels/device.h"
#include "model/kernels/flash/attention.h"

namespace trainbench::kernels {

inline constexpr float kLog2E = 1.44269504f;

// The score of a masked key. Finite, so that two of them have difference 0.
inline constexpr float kUnseen = -1e30f;

TRAINBENCH_HOST_DEVICE int64_t Smaller(int64_t x, int64_t y) {
  return x < y ? x : y;
}

// The last key that a query attends to.
struct FlashMask {
  static TRAINBENCH_DEVICE int LastKey(const FlashShape& shape, int query) {
    return shape.causal ? query : static_cast<int>(shape.seq) - 1;
  }
};

// The last key that any of `rows` queries from `first` on attends to.
template <class Mask>
TRAINBENCH_DEVICE int64_t LastKeyOf(const FlashShape& shape, int first,
                                    int rows) {
  return Mask::LastKey(shape,
                       static_cast<int>(Smaller(first + rows, shape.seq)) - 1);
}

// The channels of a row: fewer than the tile's only in the widest tiles.
template <int kHead>
TRAINBENCH_DEVICE int RowWidth(const FlashShape& shape) {
  return kHead < kWidestHead ? kHead : static_cast<int>(shape.d_head);
}
template <int kHead>
TRAINBENCH_DEVICE bool HasChannel(const FlashShape& shape, int channel) {
  // A row of the widest tiles has more than half of their channels.
  return kHead < kWidestHead || channel < kWidestHead / 2 ||
         channel < shape.d_head;
}

// The rows of one head of a tensor.
template <class T>
struct HeadRows {
  TRAINBENCH_DEVICE T* Row(int64_t row) const { return at + row * stride; }

  T* at;
  int64_t stride;
};

// The part of the tensors that a block works on: rows from `first` on, of one
// head. Blocks of one head have consecutive indices. In causal attention their
// work differs, and the longest should start first: `last_first` for queries.
struct FlashBlock {
  int item;
  int head;
  int first;

  template <class D>
  static TRAINBENCH_DEVICE FlashBlock Of(const D& d, const FlashShape& shape,
                                         int rows, bool last_first) {
    const int tiles = CeilDivide(shape.seq, rows);
    const auto block = static_cast<int>(d.Block());
    const auto heads = static_cast<int>(shape.heads);
    const int tile = block % tiles;
    return {block / tiles / heads, block / tiles % heads,
            (last_first ? tiles - 1 - tile : tile) * rows};
  }

  // The row of a tensor [batch, heads, seq] at which this head starts.
  TRAINBENCH_DEVICE int64_t Row(const FlashShape& shape) const {
    return (item * shape.heads + head) * shape.seq;
  }
  template <class T>
  TRAINBENCH_DEVICE HeadRows<T> Of(const HeadOutput& x) const {
    return {static_cast<T*>(x.data) + Start(x.strides), x.strides.token};
  }
  template <class T>
  TRAINBENCH_DEVICE HeadRows<const T> Of(const HeadInput& x) const {
    return {static_cast<const T*>(x.data) + Start(x.strides), x.strides.token};
  }
  TRAINBENCH_DEVICE int64_t Start(const HeadStrides& strides) const {
    return item * strides.batch + head * strides.head;
  }
};

// Rows of a tile in shared memory. Their 16-byte chunks are permuted so that
// one chunk of 8 adjacent rows covers all banks.
template <int kBytes>
struct FlashTile {
  static constexpr int kChunks = kBytes / 16;
  static constexpr int kRowBytes = kBytes;
  static constexpr int kRowsOfLine = kChunks < 8 ? 8 / kChunks : 1;
  static constexpr int kPermuted = kChunks < 8 ? kChunks : 8;

  // `tile` is a multiple of kRowBytes. The addresses of a thread's chunks
  // differ only in the last operation, so it need not keep one for each.
  static TRAINBENCH_DEVICE int At(int tile, int row, int chunk) {
    return (tile + row * kRowBytes + Permutation(row) * 16) ^ (chunk * 16);
  }
  static TRAINBENCH_DEVICE int Permutation(int row) {
    return static_cast<int>(static_cast<unsigned>(row) / kRowsOfLine %
                            kPermuted);
  }
};

// Starts copying kRows rows from `first` on; rows beyond the sequence, and
// channels beyond the row, become 0. A thread copies one chunk of every
// kStep-th row.
template <class Tile, int kThreads, int kRows, class T, class D>
TRAINBENCH_DEVICE void FetchRows(const D& d, int to, const HeadRows<T>& from,
                                 int first, const FlashShape& shape) {
  constexpr int kStep = kThreads / Tile::kChunks;
  static_assert(kThreads % Tile::kChunks == 0 && kRows % kStep == 0);
  const int chunk = d.Thread() % Tile::kChunks;
  const int row = d.Thread() / Tile::kChunks;
  const int column = chunk * kVectorOf<T>;
  const T* const mine = from.Row(first + row) + column;
  const bool in_row = HasChannel<Tile::kWidth>(shape, column);
  TRAINBENCH_UNROLL
  for (int i = 0; i < kRows; i += kStep) {
    const bool valid = in_row && first + row + i < shape.seq;
    d.CopyAsync16(Tile::At(to, row + i, chunk), mine + i * from.stride, valid);
  }
}

// The same for two tensors, stored one after the other.
template <class Tile, int kThreads, int kRows, class T, class D>
TRAINBENCH_DEVICE void FetchBoth(const D& d, int to, const HeadRows<T>& one,
                                 const HeadRows<T>& other, int first,
                                 const FlashShape& shape) {
  FetchRows<Tile, kThreads, kRows>(d, to, one, first, shape);
  FetchRows<Tile, kThreads, kRows>(d, to + kRows * Tile::kRowBytes, other,
                                   first, shape);
}

// Stores log_sum, scaled for Exp2, of kQueries queries from `first` on, then
// their delta. A query beyond `seq` gets values that make its probabilities 0.
template <int kQueries, class D>
TRAINBENCH_DEVICE void StoreSums(const D& d, int to, const FlashBackwardArgs& a,
                                 const FlashBlock& block, int first) {
  const int row = d.Thread();
  if (row >= kQueries) return;
  const bool valid = first + row < a.shape.seq;
  const int64_t at = block.Row(a.shape) + first + row;
  d.StoreShared(to + 4 * row,
                valid ? d.Load(a.log_sum + at) * kLog2E : -kUnseen);
  d.StoreShared(to + 4 * (kQueries + row), valid ? d.Load(a.delta + at) : 0.0f);
}

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_FLASH_BLOCK_CUH_
