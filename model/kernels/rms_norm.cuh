// SPDX-License-Identifier: MIT
// The kernels of rms_norm.h.

#ifndef TRAINBENCH_MODEL_KERNELS_RMS_NORM_CUH_
#define TRAINBENCH_MODEL_KERNELS_RMS_NORM_CUH_

#include "model/kernels/device.h"
#include "model/kernels/reduce.cuh"
#include "model/kernels/rms_norm.h"

namespace trainbench::kernels {

// A thread keeps 8 values of a row in registers, in pieces of kWide columns.
template <int kWide>
struct RowInRegisters {
  static constexpr int kValues = 8;
  static constexpr int kPieces = kValues / kWide;

  // The first column of a piece; it may be beyond the end of the row.
  template <class D>
  static TRAINBENCH_DEVICE int Column(const D& d, int piece) {
    return (piece * d.Threads() + d.Thread()) * kWide;
  }

  static int Threads(int64_t columns) {
    return CeilDivide(columns, kValues * kWarp) * kWarp;
  }
};

// One block per row.
template <class S, class B, int kWide>
struct RmsNormForwardKernel {
  using Args = RmsNormForwardArgs;
  using Row = RowInRegisters<kWide>;
  static constexpr int kMaxThreads = 1024;
  static constexpr int kBlocksPerSm = kWide == 1 ? 1 : 2;

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    const int64_t start = d.Block() * a.columns;
    const int columns = static_cast<int>(a.columns);
    float s[Row::kPieces][kWide] = {};
    float squares = 0;
    TRAINBENCH_UNROLL
    for (int i = 0; i < Row::kPieces; ++i) {
      const int column = Row::Column(d, i);
      if (column >= columns) continue;
      LoadSum(d, a, start + column, s[i]);
      TRAINBENCH_UNROLL
      for (int e = 0; e < kWide; ++e) squares += s[i][e] * s[i][e];
    }
    const float mean =
        BlockReduce<Sum>(d, squares, 0) / static_cast<float>(columns);
    const float inverse = d.Rsqrt(mean + a.epsilon);
    if (d.Thread() == 0) d.Store(a.inverse_rms + d.Block(), inverse);
    TRAINBENCH_UNROLL
    for (int i = 0; i < Row::kPieces; ++i) {
      const int column = Row::Column(d, i);
      if (column >= columns) continue;
      float y[kWide];
      LoadWide(d, static_cast<const S*>(a.weight) + column, y);
      TRAINBENCH_UNROLL
      for (int e = 0; e < kWide; ++e) y[e] *= s[i][e] * inverse;
      StoreNarrow(d, static_cast<B*>(a.y) + start + column, y);
    }
  }

  // Loads x, or computes x + update, stores it, and returns the rounded sum.
  template <class D>
  static TRAINBENCH_DEVICE void LoadSum(const D& d, const Args& a, int64_t at,
                                        float (&s)[kWide]) {
    LoadWide(d, static_cast<const S*>(a.x) + at, s);
    if (a.update == nullptr) return;
    float update[kWide];
    LoadWide(d, static_cast<const B*>(a.update) + at, update);
    Vector<S, kWide> rounded;
    TRAINBENCH_UNROLL
    for (int e = 0; e < kWide; ++e) {
      Narrow(d, s[e] + update[e], rounded.at[e]);
      s[e] = Widen(rounded.at[e]);
    }
    d.Store(reinterpret_cast<Vector<S, kWide>*>(static_cast<S*>(a.sum) + at),
            rounded);
  }
};

// Each block processes every RmsNormPartials-th row.
template <class S, class B, int kWide>
struct RmsNormBackwardKernel {
  using Args = RmsNormBackwardArgs;
  using Row = RowInRegisters<kWide>;
  static constexpr int kMaxThreads = 1024;
  static constexpr int kBlocksPerSm = 1;

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    float grad_weight[Row::kPieces][kWide] = {};
    int slot = 0;
    for (int64_t row = d.Block(); row < a.rows; row += d.Blocks()) {
      RunRow(d, a, row, slot, grad_weight);
      slot ^= kReduceBytes;
    }
    TRAINBENCH_UNROLL
    for (int i = 0; i < Row::kPieces; ++i) {
      const int column = Row::Column(d, i);
      if (column >= a.columns) continue;
      StoreNarrow(d, a.partial + d.Block() * a.columns + column,
                  grad_weight[i]);
    }
  }

  template <class D>
  static TRAINBENCH_DEVICE void RunRow(
      const D& d, const Args& a, int64_t row, int slot,
      float (&grad_weight)[Row::kPieces][kWide]) {
    const int64_t start = row * a.columns;
    const float inverse = d.Load(a.inverse_rms + row);
    float normed[Row::kPieces][kWide] = {};
    float grad[Row::kPieces][kWide] = {};  // gradient of the normed row
    float product = 0;
    TRAINBENCH_UNROLL
    for (int i = 0; i < Row::kPieces; ++i) {
      const int column = Row::Column(d, i);
      if (column >= a.columns) continue;
      float weight[kWide];
      LoadWide(d, static_cast<const S*>(a.weight) + column, weight);
      LoadWide(d, static_cast<const S*>(a.sum) + start + column, normed[i]);
      LoadWide(d, static_cast<const B*>(a.grad_y) + start + column, grad[i]);
      TRAINBENCH_UNROLL
      for (int e = 0; e < kWide; ++e) {
        normed[i][e] *= inverse;
        grad_weight[i][e] += grad[i][e] * normed[i][e];
        grad[i][e] *= weight[e];
        product += grad[i][e] * normed[i][e];
      }
    }
    const float mean =
        BlockReduce<Sum>(d, product, slot) / static_cast<float>(a.columns);
    TRAINBENCH_UNROLL
    for (int i = 0; i < Row::kPieces; ++i) {
      const int column = Row::Column(d, i);
      if (column >= a.columns) continue;
      float later[kWide] = {};
      if (a.grad_sum != nullptr) {
        LoadWide(d, static_cast<const S*>(a.grad_sum) + start + column, later);
      }
      TRAINBENCH_UNROLL
      for (int e = 0; e < kWide; ++e) {
        later[e] += inverse * (grad[i][e] - normed[i][e] * mean);
      }
      StoreNarrow(d, static_cast<S*>(a.grad_x) + start + column, later);
      if (a.grad_update != nullptr) {
        StoreNarrow(d, static_cast<B*>(a.grad_update) + start + column, later);
      }
    }
  }
};

// One block per 32 columns: each warp sums every 32nd partial, then the first
// warp sums over the warps.
template <class S>
struct RmsNormWeightKernel {
  using Args = RmsNormBackwardArgs;
  static constexpr int kMaxThreads = 1024;
  static constexpr int kBlocksPerSm = 2;
  static constexpr int kWarps = kMaxThreads / kWarp;
  static constexpr int kSharedBytes = 4 * kMaxThreads;

  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& a) {
    const int lane = d.Thread() % kWarp;
    const int warp = d.Thread() / kWarp;
    const int64_t column = d.Block() * kWarp + lane;
    const bool mine = column < a.columns;
    const int64_t partials = RmsNormPartials(a.rows);
    float sum = 0;
    for (int64_t i = warp; mine && i < partials; i += kWarps) {
      sum += d.Load(a.partial + i * a.columns + column);
    }
    d.StoreShared(4 * d.Thread(), sum);
    d.SyncBlock();
    if (warp != 0 || !mine) return;
    for (int i = 1; i < kWarps; ++i) {
      sum += d.template LoadShared<float>(4 * (i * kWarp + lane));
    }
    S rounded;
    Narrow(d, sum, rounded);
    d.Store(static_cast<S*>(a.grad_weight) + column, rounded);
  }
};

// Calls f with values of the element types of stream and branch.
template <class F>
auto WithNormTypes(Dtype stream, Dtype branch, const F& f) {
  if (stream == Dtype::kBfloat16) return f(Bf16(), Bf16());
  return branch == Dtype::kBfloat16 ? f(float(), Bf16()) : f(float(), float());
}

template <class Args>
const char* WhyNoRmsNorm(const Args& a) {
  if (a.stream == Dtype::kBfloat16 && a.branch == Dtype::kFloat32) {
    return "a stream in bf16 has branches in bf16";
  }
  if (a.rows < 1 || a.rows > kMaxBlocks) return "rows must be in [1, 2^31)";
  if (a.columns < 1 || a.columns > kRmsNormMaxColumns) {
    return "columns must be in [1, 8192]";
  }
  return nullptr;
}

template <class... P>
bool CanBeWide(int64_t columns, const P*... tensors) {
  return columns % 8 == 0 && (IsAligned(tensors, 16) && ...);
}

template <class L>
typename L::Status RmsNormForward(L& launcher, const RmsNormForwardArgs& a) {
  if (const char* why = WhyNoRmsNorm(a)) return L::Invalid(why);
  const bool wide = CanBeWide(a.columns, a.x, a.update, a.weight, a.sum, a.y);
  const Grid grid{a.rows, RowInRegisters<1>::Threads(a.columns), kReduceBytes};
  return WithNormTypes(a.stream, a.branch, [&](auto s, auto b) {
    using S = decltype(s);
    using B = decltype(b);
    using Wide = RmsNormForwardKernel<S, B, kVectorOf<S>>;
    using Single = RmsNormForwardKernel<S, B, 1>;
    return wide ? launcher.template Launch<Wide>(grid, a)
                : launcher.template Launch<Single>(grid, a);
  });
}

template <class L>
typename L::Status RmsNormBackward(L& launcher, const RmsNormBackwardArgs& a) {
  if (const char* why = WhyNoRmsNorm(a)) return L::Invalid(why);
  const bool wide = CanBeWide(a.columns, a.sum, a.weight, a.grad_y, a.grad_sum,
                              a.grad_x, a.grad_update);
  const Grid rows{RmsNormPartials(a.rows),
                  RowInRegisters<1>::Threads(a.columns), 2 * kReduceBytes};
  return WithNormTypes(a.stream, a.branch, [&](auto s, auto b) {
    using S = decltype(s);
    using B = decltype(b);
    using Wide = RmsNormBackwardKernel<S, B, kVectorOf<S>>;
    using Single = RmsNormBackwardKernel<S, B, 1>;
    using Weight = RmsNormWeightKernel<S>;
    const typename L::Status status =
        wide ? launcher.template Launch<Wide>(rows, a)
             : launcher.template Launch<Single>(rows, a);
    if (!L::Ok(status)) return status;
    const Grid columns{CeilDivide(a.columns, kWarp), Weight::kMaxThreads,
                       Weight::kSharedBytes};
    return launcher.template Launch<Weight>(columns, a);
  });
}

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_RMS_NORM_CUH_
