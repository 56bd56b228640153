// SPDX-License-Identifier: MIT
// The kernels of softmax.h.

#ifndef TRAINBENCH_MODEL_KERNELS_SOFTMAX_CUH_
#define TRAINBENCH_MODEL_KERNELS_SOFTMAX_CUH_

#include "model/kernels/device.h"
#include "model/kernels/long_row.cuh"
#include "model/kernels/reduce.cuh"
#include "model/kernels/softmax.h"

namespace trainbench::kernels {

// The number of columns that this block's row attends to.
template <class D, class Args>
TRAINBENCH_DEVICE int64_t VisibleColumns(const D& d, const Args& a) {
  return d.Block() % a.seq + 1;
}

// One block per row. It reads the row twice, the second time from a cache.
template <class T>
struct SoftmaxForwardKernel {
  using Args = SoftmaxForwardArgs;
  using Row = LongRow<T>;
  static constexpr int kMaxThreads = 256;
  static constexpr int kBlocksPerSm = 6;

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    const int64_t start = d.Block() * a.seq;
    const int64_t visible = VisibleColumns(d, a);
    const T* x = static_cast<const T*>(a.x) + start;
    T* p = static_cast<T*>(a.p) + start;
    const Row seen(x, visible);
    RunningSum total;
    for (int64_t i = d.Thread(); i < seen.vectors; i += d.Threads()) {
      float s[Row::kWide];
      LoadScores(d, a, seen, x, seen.Column(i), s);
      total.Add(d, s);
    }
    total.Reduce(d);
    const float inverse = 1 / total.sum;
    const Row all(p, a.seq);
    for (int64_t i = d.Thread(); i < all.vectors; i += d.Threads()) {
      const int64_t column = all.Column(i);
      float s[Row::kWide];
      LoadScores(d, a, seen, x, column, s);
      TRAINBENCH_UNROLL
      for (int e = 0; e < Row::kWide; ++e) {
        s[e] = d.Exp(s[e] - total.top) * inverse;
      }
      all.Store(d, p, column, s);
    }
  }

  // Loads scaled scores. Masked ones are far below all others.
  template <class D>
  static TRAINBENCH_DEVICE void LoadScores(const D& d, const Args& a,
                                           const Row& seen, const T* x,
                                           int64_t column,
                                           float (&s)[Row::kWide]) {
    seen.Load(d, x, column, 0, s);
    TRAINBENCH_UNROLL
    for (int e = 0; e < Row::kWide; ++e) {
      s[e] = seen.Has(column + e) ? s[e] * a.scale : Max::kNeutral;
    }
  }
};

template <class T>
struct SoftmaxBackwardKernel {
  using Args = SoftmaxBackwardArgs;
  using Row = LongRow<T>;
  static constexpr int kMaxThreads = 256;
  static constexpr int kBlocksPerSm = 6;

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    const int64_t start = d.Block() * a.seq;
    const T* p = static_cast<const T*>(a.p) + start;
    const T* grad_p = static_cast<const T*>(a.grad_p) + start;
    T* grad_x = static_cast<T*>(a.grad_x) + start;
    const Row seen(p, VisibleColumns(d, a));
    float sum = 0;
    for (int64_t i = d.Thread(); i < seen.vectors; i += d.Threads()) {
      float value[Row::kWide];
      float grad[Row::kWide];
      seen.Load(d, p, seen.Column(i), 0, value);
      seen.Load(d, grad_p, seen.Column(i), 0, grad);
      TRAINBENCH_UNROLL
      for (int e = 0; e < Row::kWide; ++e) sum += value[e] * grad[e];
    }
    sum = BlockReduce<Sum>(d, sum, 0);
    const Row all(p, a.seq);
    for (int64_t i = d.Thread(); i < all.vectors; i += d.Threads()) {
      const int64_t column = all.Column(i);
      float value[Row::kWide];
      float grad[Row::kWide];
      seen.Load(d, p, column, 0, value);
      seen.Load(d, grad_p, column, 0, grad);
      TRAINBENCH_UNROLL
      for (int e = 0; e < Row::kWide; ++e) {
        grad[e] = a.scale * value[e] * (grad[e] - sum);
      }
      all.Store(d, grad_x, column, grad);
    }
  }
};

// Rows are read in vectors, so all tensors need the same alignment.
template <template <class> class Kernel, class L, class Args, class... P>
typename L::Status LaunchSoftmax(L& launcher, const Args& a,
                                 const P*... tensors) {
  if (a.seq < 1 || a.matrices < 1 || a.matrices > kMaxBlocks / a.seq) {
    return L::Invalid("matrices times seq must be in [1, 2^31)");
  }
  if (!(IsAligned(tensors, 16) && ...)) {
    return L::Invalid("tensors must begin at a multiple of 16 bytes");
  }
  const Grid grid{a.matrices * a.seq, a.seq <= 1024 ? 128 : 256,
                  2 * kReduceBytes};
  return a.dtype == Dtype::kBfloat16
             ? launcher.template Launch<Kernel<Bf16>>(grid, a)
             : launcher.template Launch<Kernel<float>>(grid, a);
}

template <class L>
typename L::Status SoftmaxForward(L& launcher, const SoftmaxForwardArgs& a) {
  return LaunchSoftmax<SoftmaxForwardKernel>(launcher, a, a.x, a.p);
}

template <class L>
typename L::Status SoftmaxBackward(L& launcher, const SoftmaxBackwardArgs& a) {
  return LaunchSoftmax<SoftmaxBackwardKernel>(launcher, a, a.p, a.grad_p,
                                              a.grad_x);
}

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_SOFTMAX_CUH_
