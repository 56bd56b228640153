// SPDX-License-Identifier: MIT
// Tile sizes of our attention kernel for CPUs, and the buffers that it needs.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_FLASH_TILES_H_
#define TRAINBENCH_MODEL_FUSED_CPU_FLASH_TILES_H_

#include <algorithm>
#include <cstdint>

namespace trainbench {

// Sizes are in floats. bf16 operands take half of their buffer on a CPU that
// multiplies bf16, and all of it elsewhere, where they are converted to fp32:
// the buffers have the same size on every CPU.
struct CpuFlashTiles {
  static constexpr int64_t kLanes = 16;
  // Small tiles skip more of the masked scores.
  static constexpr int64_t kShortTile = 64, kLongTile = 128;
  static constexpr int64_t kForwardGroup = 4;   // tiles of queries
  static constexpr int64_t kBackwardGroup = 4;  // tiles of keys

  static constexpr int64_t RoundUp(int64_t value, int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
  }

  constexpr CpuFlashTiles(int64_t seq, int64_t d_head)
      : rows(std::min(seq <= 512 ? kShortTile : kLongTile,
                      RoundUp(seq, kLanes))),
        keys(rows),
        width(RoundUp(d_head, 2)),
        tiles((seq + rows - 1) / rows) {}

  // Per thread: q, the output, row maxima and sums of a group; k, v, scores and
  // factors of a tile.
  constexpr int64_t ForwardFloats() const {
    const int64_t group = std::min(kForwardGroup, tiles);
    return group * rows * (2 * width + 2) + 2 * keys * width + keys * rows +
           rows;
  }
  // Per thread: k twice, v and the gradients of a group; q and the output's
  // gradient twice, two values per row and three score matrices of a tile.
  constexpr int64_t BackwardFloats() const {
    const int64_t group = std::min(kBackwardGroup, tiles);
    return 5 * group * keys * width + 4 * rows * width + 2 * rows +
           3 * keys * rows;
  }
  // One gradient of q.
  constexpr int64_t QueryGradientFloats() const { return tiles * rows * width; }

  // The number of parts into which the backward pass splits the keys of a
  // sequence to keep the threads busy. Each part sums its own gradient of q.
  constexpr int64_t Splits(int64_t sequences, int64_t threads) const {
    const int64_t groups = (tiles + kBackwardGroup - 1) / kBackwardGroup;
    const bool even = sequences >= 4 * threads || sequences % threads == 0;
    const int64_t wanted =
        even ? 1 : std::max<int64_t>(2, (threads + sequences - 1) / sequences);
    return std::min(groups, wanted);
  }

  int64_t rows;   // queries per tile
  int64_t keys;   // keys per tile
  int64_t width;  // d_head, rounded up to even
  int64_t tiles;  // per sequence, of queries and of keys
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_FLASH_TILES_H_
