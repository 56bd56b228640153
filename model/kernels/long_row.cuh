// SPDX-License-Identifier: MIT
// A row of any length, which a block reads in aligned vectors.

#ifndef TRAINBENCH_MODEL_KERNELS_LONG_ROW_CUH_
#define TRAINBENCH_MODEL_KERNELS_LONG_ROW_CUH_

#include "model/kernels/device.h"
#include "model/kernels/reduce.cuh"

namespace trainbench::kernels {

// The 16-byte vectors that `count` elements from `first` on overlap. The outer
// two may contain elements outside the row, which are neither read nor written,
// so the length may be any number, such as 50257 logits. Thread i has the
// vectors i, i + Threads(), ..., the same ones in each pass.
template <class T>
struct LongRow {
  static constexpr int kWide = kVectorOf<T>;

  TRAINBENCH_DEVICE LongRow(const T* first, int64_t elements)
      : shift(static_cast<int>(reinterpret_cast<uintptr_t>(first) % 16 /
                               sizeof(T))),
        count(elements),
        vectors((elements + shift + kWide - 1) / kWide) {}

  // The column of the vector's first element; may be negative.
  TRAINBENCH_DEVICE int64_t Column(int64_t vector) const {
    return vector * kWide - shift;
  }
  TRAINBENCH_DEVICE bool Has(int64_t column) const {
    return column >= 0 && column < count;
  }
  TRAINBENCH_DEVICE bool IsWhole(int64_t column) const {
    return column >= 0 && column + kWide <= count;
  }

  // Elements outside the row are set to `fill`.
  template <class D>
  TRAINBENCH_DEVICE void Load(const D& d, const T* row, int64_t column,
                              float fill, float (&x)[kWide]) const {
    if (IsWhole(column)) return LoadWide(d, row + column, x);
    TRAINBENCH_UNROLL
    for (int e = 0; e < kWide; ++e) {
      x[e] = Has(column + e) ? Widen(d.Load(row + column + e)) : fill;
    }
  }

  template <class D>
  TRAINBENCH_DEVICE void Store(const D& d, T* row, int64_t column,
                               const float (&x)[kWide]) const {
    if (IsWhole(column)) return StoreNarrow(d, row + column, x);
    TRAINBENCH_UNROLL
    for (int e = 0; e < kWide; ++e) {
      if (!Has(column + e)) continue;
      T narrow;
      Narrow(d, x[e], narrow);
      d.Store(row + column + e, narrow);
    }
  }

  int shift;
  int64_t count;
  int64_t vectors;
};

// max(x) and sum(exp(x - max)) of the values added so far, in one pass.
struct RunningSum {
  float top = Max::kNeutral;
  float sum = 0;

  template <int n, class D>
  TRAINBENCH_DEVICE void Add(const D& d, const float (&x)[n]) {
    float next = top;
    TRAINBENCH_UNROLL
    for (int e = 0; e < n; ++e) next = Max::Of(next, x[e]);
    sum *= d.Exp(top - next);
    TRAINBENCH_UNROLL
    for (int e = 0; e < n; ++e) sum += d.Exp(x[e] - next);
    top = next;
  }

  // Reduces over the block, with the first 2 kReduceBytes of shared memory.
  template <class D>
  TRAINBENCH_DEVICE void Reduce(const D& d) {
    const float own = top;
    top = BlockReduce<Max>(d, own, 0);
    sum = BlockReduce<Sum>(d, sum * d.Exp(own - top), kReduceBytes);
  }
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_LONG_ROW_CUH_
