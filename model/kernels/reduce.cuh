// SPDX-License-Identifier: MIT
// Sums and maxima over a block.

#ifndef TRAINBENCH_MODEL_KERNELS_REDUCE_CUH_
#define TRAINBENCH_MODEL_KERNELS_REDUCE_CUH_

#include <cmath>

#include "model/kernels/device.h"

namespace trainbench::kernels {

struct Sum {
  static constexpr float kNeutral = 0;
  static TRAINBENCH_DEVICE float Of(float x, float y) { return x + y; }
};

struct Max {
  static constexpr float kNeutral = -3e38f;
  // One instruction; a comparison and a selection would be two, because of NaN.
  static TRAINBENCH_DEVICE float Of(float x, float y) { return fmaxf(x, y); }
};

// Reduces over groups of 2, 4, .. or 32 adjacent lanes.
template <class Op, int lanes = kWarp, class D>
TRAINBENCH_DEVICE float WarpReduce(const D& d, float x) {
  TRAINBENCH_UNROLL
  for (int mask = 1; mask < lanes; mask *= 2) {
    x = Op::Of(x, d.ShuffleXor(x, mask));
  }
  return x;
}

// Shared memory of a BlockReduce: one float per warp.
inline constexpr int kReduceBytes = 4 * kWarp;

// Returns the same value in all threads, and in every run. `slot` is the offset
// of kReduceBytes of shared memory. A slot may be reused after a barrier, such
// as the one in a reduction with another slot.
template <class Op, class D>
TRAINBENCH_DEVICE float BlockReduce(const D& d, float x, int slot) {
  const int lane = d.Thread() % kWarp;
  x = WarpReduce<Op>(d, x);
  if (lane == 0) d.StoreShared(slot + 4 * (d.Thread() / kWarp), x);
  d.SyncBlock();
  const bool mine = lane < d.Threads() / kWarp;
  x = mine ? d.template LoadShared<float>(slot + 4 * lane) : Op::kNeutral;
  return WarpReduce<Op>(d, x);
}

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_REDUCE_CUH_
