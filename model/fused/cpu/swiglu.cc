// SPDX-License-Identifier: MIT

#include "model/kernels/swiglu.h"

#include "model/fused/cpu/launchers.h"
#include "model/fused/cpu/row_kernel.h"
#include "model/fused/cpu/simd.h"

namespace trainbench {
namespace {

template <typename T>
struct SwigluForward {
  kernels::SwigluForwardArgs a;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t row) const {
    const T* const gate = static_cast<const T*>(a.gate) + row * a.input_stride;
    const T* const up = static_cast<const T*>(a.up) + row * a.input_stride;
    T* const y = static_cast<T*>(a.y) + row * a.columns;
    for (int64_t i = 0; i < a.columns; i += V::kLanes) {
      const int count = simd::Count<V>(a.columns, i);
      const auto x = V::Load(gate + i, count);
      V::Store(y + i, x * V::Sigmoid(x) * V::Load(up + i, count), count);
    }
  }
};

// With s = sigmoid(x): d(x s u) = x s du + u s (1 + x (1 - s)) dx.
template <typename T>
struct SwigluBackward {
  kernels::SwigluBackwardArgs a;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t row) const {
    const int64_t start = row * a.input_stride;
    const T* const gate = static_cast<const T*>(a.gate) + start;
    const T* const up = static_cast<const T*>(a.up) + start;
    const T* const grad_y = static_cast<const T*>(a.grad_y) + row * a.columns;
    T* const grad_gate = static_cast<T*>(a.grad_gate) + start;
    T* const grad_up = static_cast<T*>(a.grad_up) + start;
    for (int64_t i = 0; i < a.columns; i += V::kLanes) {
      const int count = simd::Count<V>(a.columns, i);
      const auto x = V::Load(gate + i, count);
      const auto s = V::Sigmoid(x);
      const auto g = V::Load(grad_y + i, count) * s;
      V::Store(grad_gate + i,
               g * V::Load(up + i, count) * (1.0F + x * (1.0F - s)), count);
      V::Store(grad_up + i, g * x, count);
    }
  }
};

}  // namespace

void LaunchOnCpu(const kernels::SwigluForwardArgs& args) {
  RunRowsOf<SwigluForward>(args, args.rows, args.columns);
}

void LaunchOnCpu(const kernels::SwigluBackwardArgs& args) {
  RunRowsOf<SwigluBackward>(args, args.rows, args.columns);
}

}  // namespace trainbench
