// SPDX-License-Identifier: MIT
// The kernels of swiglu.h.

#ifndef TRAINBENCH_MODEL_KERNELS_SWIGLU_CUH_
#define TRAINBENCH_MODEL_KERNELS_SWIGLU_CUH_

#include "model/kernels/device.h"
#include "model/kernels/swiglu.h"

namespace trainbench::kernels {

// 1 / (1 + exp(-x)); exp(-x) is infinite below -88, which gives 0.
template <class D>
TRAINBENCH_DEVICE float Sigmoid(const D& d, float x) {
  return 1 / (1 + d.Exp(-x));
}

inline constexpr int kSwigluThreads = 256;

// One block per kSwigluThreads vectors of a row.
template <int kWide>
struct SwigluTile {
  static int64_t BlocksOfRow(int64_t columns) {
    const int64_t vectors = (columns + kWide - 1) / kWide;
    return (vectors + kSwigluThreads - 1) / kSwigluThreads;
  }

  // Offset of the thread's vector: in gate, up and their gradients, and in y
  // and its gradient.
  int64_t in;
  int64_t out;
  bool exists;

  template <class D, class Args>
  static TRAINBENCH_DEVICE SwigluTile Of(const D& d, const Args& a) {
    const auto vectors = static_cast<int>((a.columns + kWide - 1) / kWide);
    const int of_row = (vectors + kSwigluThreads - 1) / kSwigluThreads;
    const auto block = static_cast<int>(d.Block());
    const int64_t row = block / of_row;
    const int64_t column =
        (block % of_row * kSwigluThreads + d.Thread()) * int64_t{kWide};
    return {row * a.input_stride + column, row * a.columns + column,
            column < a.columns};
  }
};

template <class T, int kWide>
struct SwigluForwardKernel {
  using Args = SwigluForwardArgs;
  static constexpr int kMaxThreads = kSwigluThreads;
  static constexpr int kBlocksPerSm = 8;

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    const auto tile = SwigluTile<kWide>::Of(d, a);
    if (!tile.exists) return;
    float gate[kWide];
    float up[kWide];
    LoadWide(d, static_cast<const T*>(a.gate) + tile.in, gate);
    LoadWide(d, static_cast<const T*>(a.up) + tile.in, up);
    TRAINBENCH_UNROLL
    for (int e = 0; e < kWide; ++e) up[e] *= gate[e] * Sigmoid(d, gate[e]);
    StoreNarrow(d, static_cast<T*>(a.y) + tile.out, up);
  }
};

// silu'(x) = s (1 + x (1 - s)) with s = sigmoid(x).
template <class T, int kWide>
struct SwigluBackwardKernel {
  using Args = SwigluBackwardArgs;
  static constexpr int kMaxThreads = kSwigluThreads;
  static constexpr int kBlocksPerSm = 6;

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    const auto tile = SwigluTile<kWide>::Of(d, a);
    if (!tile.exists) return;
    float gate[kWide];
    float up[kWide];
    float grad[kWide];
    LoadWide(d, static_cast<const T*>(a.gate) + tile.in, gate);
    LoadWide(d, static_cast<const T*>(a.up) + tile.in, up);
    LoadWide(d, static_cast<const T*>(a.grad_y) + tile.out, grad);
    TRAINBENCH_UNROLL
    for (int e = 0; e < kWide; ++e) {
      const float s = Sigmoid(d, gate[e]);
      const float slope = s * (1 + gate[e] * (1 - s));
      const float grad_up = grad[e] * gate[e] * s;
      gate[e] = grad[e] * up[e] * slope;
      up[e] = grad_up;
    }
    StoreNarrow(d, static_cast<T*>(a.grad_gate) + tile.in, gate);
    StoreNarrow(d, static_cast<T*>(a.grad_up) + tile.in, up);
  }
};

// Launches Kernel<T, kWide> if sizes and alignment allow, else Kernel<T, 1>.
template <template <class, int> class Kernel, class L, class Args, class... P>
typename L::Status LaunchSwiglu(L& launcher, const Args& a,
                                const P*... tensors) {
  const auto launch = [&](auto element) {
    using T = decltype(element);
    constexpr int kWide = kVectorOf<T>;
    const bool wide = a.columns % kWide == 0 && a.input_stride % kWide == 0 &&
                      (IsAligned(tensors, 16) && ...);
    const int64_t of_row = wide ? SwigluTile<kWide>::BlocksOfRow(a.columns)
                                : SwigluTile<1>::BlocksOfRow(a.columns);
    if (a.rows < 1 || a.columns < 1 || a.columns > kMaxBlocks ||
        a.rows > kMaxBlocks / of_row) {
      return L::Invalid("rows and columns must be in [1, 2^31)");
    }
    const Grid grid{a.rows * of_row, kSwigluThreads, 0};
    return wide ? launcher.template Launch<Kernel<T, kWide>>(grid, a)
                : launcher.template Launch<Kernel<T, 1>>(grid, a);
  };
  return a.dtype == Dtype::kBfloat16 ? launch(Bf16()) : launch(float());
}

template <class L>
typename L::Status SwigluForward(L& launcher, const SwigluForwardArgs& a) {
  return LaunchSwiglu<SwigluForwardKernel>(launcher, a, a.gate, a.up, a.y);
}

template <class L>
typename L::Status SwigluBackward(L& launcher, const SwigluBackwardArgs& a) {
  return LaunchSwiglu<SwigluBackwardKernel>(launcher, a, a.gate, a.up, a.grad_y,
                                            a.grad_gate, a.grad_up);
}

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_SWIGLU_CUH_
