// SPDX-License-Identifier: MIT
// The kernels of cross_entropy.h.

#ifndef TRAINBENCH_MODEL_KERNELS_CROSS_ENTROPY_CUH_
#define TRAINBENCH_MODEL_KERNELS_CROSS_ENTROPY_CUH_

#include "model/kernels/cross_entropy.h"
#include "model/kernels/device.h"
#include "model/kernels/long_row.cuh"
#include "model/kernels/reduce.cuh"

namespace trainbench::kernels {

// One block per row. It reads the row twice, the second time from a cache.
template <class T>
struct CrossEntropyForwardKernel {
  using Args = CrossEntropyForwardArgs;
  using Row = LongRow<T>;
  static constexpr int kMaxThreads = 512;
  static constexpr int kBlocksPerSm = 3;

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    T* x = static_cast<T*>(a.logits) + d.Block() * a.columns;
    const int64_t target = d.Load(a.targets + d.Block());
    const Row row(x, a.columns);
    const bool valid = row.Has(target);
    float chosen = 0;
    if (d.Thread() == 0 && valid) chosen = Widen(d.Load(x + target));
    RunningSum total;
    for (int64_t i = d.Thread(); i < row.vectors; i += d.Threads()) {
      float logits[Row::kWide];
      row.Load(d, x, row.Column(i), Max::kNeutral, logits);
      total.Add(d, logits);
    }
    // Its barriers also order the read of x[target] before the writes.
    total.Reduce(d);
    if (d.Thread() == 0) {
      // Large logits cancel before the logarithm, which may be small, is added.
      const float loss = d.Log(total.sum) + (total.top - chosen);
      d.Store(a.losses + d.Block(), valid ? loss : Nan());
    }
    if (a.gradient) WriteGradient(d, a, row, x, target, total);
  }

  template <class D>
  static TRAINBENCH_DEVICE void WriteGradient(const D& d, const Args& a,
                                              const Row& row, T* x,
                                              int64_t target,
                                              const RunningSum& total) {
    const float inverse = 1 / total.sum;
    for (int64_t i = d.Thread(); i < row.vectors; i += d.Threads()) {
      const int64_t column = row.Column(i);
      float p[Row::kWide];
      row.Load(d, x, column, Max::kNeutral, p);
      TRAINBENCH_UNROLL
      for (int e = 0; e < Row::kWide; ++e) {
        p[e] = d.Exp(p[e] - total.top) * inverse;
        p[e] = a.scale * (column + e == target ? p[e] - 1 : p[e]);
      }
      row.Store(d, x, column, p);
    }
  }

  static TRAINBENCH_DEVICE float Nan() {
    const uint32_t bits = 0x7fffffff;
    float nan;
    std::memcpy(&nan, &bits, sizeof(nan));
    return nan;
  }
};

template <class T>
struct CrossEntropyBackwardKernel {
  using Args = CrossEntropyBackwardArgs;
  using Row = LongRow<T>;
  static constexpr int kMaxThreads = 512;
  static constexpr int kBlocksPerSm = 4;

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    const float factor = d.Load(a.factor);
    if (factor == 1) return;
    T* gradient = static_cast<T*>(a.gradient) + d.Block() * a.columns;
    const Row row(gradient, a.columns);
    for (int64_t i = d.Thread(); i < row.vectors; i += d.Threads()) {
      float x[Row::kWide];
      row.Load(d, gradient, row.Column(i), 0, x);
      TRAINBENCH_UNROLL
      for (int e = 0; e < Row::kWide; ++e) x[e] *= factor;
      row.Store(d, gradient, row.Column(i), x);
    }
  }
};

template <template <class> class Kernel, class L, class Args>
typename L::Status LaunchCrossEntropy(L& launcher, const Args& a) {
  if (a.rows < 1 || a.rows > kMaxBlocks || a.columns < 1) {
    return L::Invalid("rows must be in [1, 2^31), columns at least 1");
  }
  const Grid grid{a.rows, a.columns <= 4096 ? 128 : 512, 2 * kReduceBytes};
  return a.dtype == Dtype::kBfloat16
             ? launcher.template Launch<Kernel<Bf16>>(grid, a)
             : launcher.template Launch<Kernel<float>>(grid, a);
}

template <class L>
typename L::Status CrossEntropyForward(L& launcher,
                                       const CrossEntropyForwardArgs& a) {
  return LaunchCrossEntropy<CrossEntropyForwardKernel>(launcher, a);
}

template <class L>
typename L::Status CrossEntropyBackward(L& launcher,
                                        const CrossEntropyBackwardArgs& a) {
  return LaunchCrossEntropy<CrossEntropyBackwardKernel>(launcher, a);
}

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_CROSS_ENTROPY_CUH_
