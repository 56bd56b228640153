// SPDX-License-Identifier: MIT
// The kernel of rope.h.

#ifndef TRAINBENCH_MODEL_KERNELS_ROPE_CUH_
#define TRAINBENCH_MODEL_KERNELS_ROPE_CUH_

#include "model/kernels/device.h"
#include "model/kernels/head_strides.h"
#include "model/kernels/rope.h"

namespace trainbench::kernels {

// One block per token of the batch.
template <class T, int kWide>
struct RopeKernel {
  using Args = RopeArgs;
  static constexpr int kMaxThreads = 256;
  static constexpr int kBlocksPerSm = 8;

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    const int64_t item = d.Block() / a.seq;
    const int64_t token = d.Block() % a.seq;
    const int of_head = static_cast<int>(a.d_head) / kWide;
    const int vectors = static_cast<int>(a.heads) * of_head;
    const T* from = static_cast<const T*>(a.from) +
                    item * a.from_strides.batch + token * a.from_strides.token;
    T* to = static_cast<T*>(a.to) + item * a.to_strides.batch +
            token * a.to_strides.token;
    for (int i = d.Thread(); i < vectors; i += d.Threads()) {
      const int head = i / of_head;
      const int column = i % of_head * kWide;
      float x[kWide];
      LoadWide(d, from + head * a.from_strides.head + column, x);
      Turn(d, a, token * (a.d_head / 2) + column / 2, x);
      StoreNarrow(d, to + head * a.to_strides.head + column, x);
    }
  }

  template <class D>
  static TRAINBENCH_DEVICE void Turn(const D& d, const Args& a, int64_t angle,
                                     float (&x)[kWide]) {
    float cos[kWide / 2];
    float sin[kWide / 2];
    LoadWide(d, a.cos + angle, cos);
    LoadWide(d, a.sin + angle, sin);
    TRAINBENCH_UNROLL
    for (int e = 0; e < kWide / 2; ++e) {
      const float s = a.backward ? -sin[e] : sin[e];
      const float even = x[2 * e];
      const float odd = x[2 * e + 1];
      x[2 * e] = even * cos[e] - odd * s;
      x[2 * e + 1] = even * s + odd * cos[e];
    }
  }
};

template <class L>
typename L::Status RopeTurn(L& launcher, const RopeArgs& a) {
  const auto launch = [&](auto element) {
    using T = decltype(element);
    constexpr int kWide = kVectorOf<T>;
    if (a.d_head < 2 || a.d_head % 2 != 0) {
      return L::Invalid("d_head must be even");
    }
    if (a.batch < 1 || a.heads < 1 || a.seq < 1 ||
        a.batch > kMaxBlocks / a.seq || a.heads > kMaxBlocks / a.d_head) {
      return L::Invalid("batch times seq, and heads, must be in [1, 2^31)");
    }
    const auto can_be = [&](int wide) {
      const int64_t bytes = wide * static_cast<int64_t>(sizeof(T));
      return a.d_head % wide == 0 && KeepAlignment(a.from_strides, wide) &&
             KeepAlignment(a.to_strides, wide) && IsAligned(a.from, bytes) &&
             IsAligned(a.to, bytes);
    };
    if (!can_be(2)) return L::Invalid("pairs of channels must be aligned");
    const bool wide =
        can_be(kWide) && IsAligned(a.cos, 16) && IsAligned(a.sin, 16);
    const int64_t vectors = a.heads * a.d_head / (wide ? kWide : 2);
    const int threads = CeilDivide(vectors, kWarp) * kWarp;
    const Grid grid{a.batch * a.seq, threads < 256 ? threads : 256, 0};
    return wide ? launcher.template Launch<RopeKernel<T, kWide>>(grid, a)
                : launcher.template Launch<RopeKernel<T, 2>>(grid, a);
  };
  return a.dtype == Dtype::kBfloat16 ? launch(Bf16()) : launch(float());
}

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_ROPE_CUH_
