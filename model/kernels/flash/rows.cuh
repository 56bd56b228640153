// SPDX-License-Identifier: MIT
// The work before and after the matrix products of the backward pass.

#ifndef TRAINBENCH_MODEL_KERNELS_FLASH_ROWS_CUH_
#define TRAINBENCH_MODEL_KERNELS_FLASH_ROWS_CUH_

#include "model/kernels/device.h"
#include "model/kernels/flash/attention.h"
#include "model/kernels/flash/block.cuh"
#include "model/kernels/reduce.cuh"

namespace trainbench::kernels {

// One warp per row, over all heads.
struct FlashRows {
  static constexpr int kMaxThreads = 256;
  static constexpr int kBlocksPerSm = 4;
  static constexpr int kRows = kMaxThreads / kWarp;

  template <class D>
  static TRAINBENCH_DEVICE int64_t Index(const D& d) {
    return d.Block() * kRows + d.Thread() / kWarp;
  }
  // `first` is the row.
  static TRAINBENCH_DEVICE FlashBlock RowOf(const FlashShape& shape,
                                            int64_t index) {
    const int64_t matrix = index / shape.seq;
    return {static_cast<int>(matrix / shape.heads),
            static_cast<int>(matrix % shape.heads),
            static_cast<int>(index % shape.seq)};
  }
  static TRAINBENCH_HOST_DEVICE int64_t Count(const FlashShape& shape) {
    return shape.batch * shape.heads * shape.seq;
  }
};

// delta = sum(grad_o o), and grad_q_sum = 0.
template <class T>
struct FlashPrepareRows : FlashRows {
  using Args = FlashBackwardArgs;

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    const int64_t index = Index(d);
    if (index >= Count(a.shape)) return;  // uniform in a warp
    const FlashBlock row = RowOf(a.shape, index);
    const int lane = d.Thread() % kWarp;
    const int column = lane * kVectorOf<T>;
    float sum = 0;
    if (column < a.shape.d_head) {
      float o[kVectorOf<T>];
      float grad[kVectorOf<T>];
      LoadWide(d, row.Of<T>(a.o).Row(row.first) + column, o);
      LoadWide(d, row.Of<T>(a.grad_o).Row(row.first) + column, grad);
      TRAINBENCH_UNROLL
      for (int e = 0; e < kVectorOf<T>; ++e) sum += o[e] * grad[e];
    }
    sum = WarpReduce<Sum>(d, sum);
    if (lane == 0) d.Store(a.delta + index, sum);
    if (4 * lane >= a.shape.d_head) return;
    const float zeros[4] = {};
    StoreNarrow(d, a.grad_q_sum + index * a.shape.d_head + 4 * lane, zeros);
  }
};

// grad_q = scale grad_q_sum.
template <class T>
struct FlashFinishQueries : FlashRows {
  using Args = FlashBackwardArgs;

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    const int64_t index = Index(d);
    const int column = d.Thread() % kWarp * 4;
    if (index >= Count(a.shape) || column >= a.shape.d_head) return;
    const FlashBlock row = RowOf(a.shape, index);
    float x[4];
    LoadWide(d, a.grad_q_sum + index * a.shape.d_head + column, x);
    TRAINBENCH_UNROLL
    for (int e = 0; e < 4; ++e) x[e] *= a.shape.scale;
    StoreNarrow(d, row.Of<T>(a.grad_q).Row(row.first) + column, x);
  }
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_FLASH_ROWS_CUH_
