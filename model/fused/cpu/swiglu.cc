// SPDX-License-Identifier: MIT

#include "model/fused/cpu/swiglu.h"

#include <torch/types.h>

#include "model/fused/cpu/elements.h"
#include "model/fused/cpu/parallel.h"
#include "model/fused/cpu/simd.h"

namespace trainbench {
namespace {

template <typename T>
struct Forward {
  const T* gate_value;
  T* result;
  int64_t d_ff;

  template <typename V>
  TRAINBENCH_SIMD static void Run(const Forward& k, int64_t first,
                                  int64_t end) {
    for (int64_t row = first; row < end; ++row) {
      const T* const gate = k.gate_value + row * 2 * k.d_ff;
      const T* const value = gate + k.d_ff;
      T* const to = k.result + row * k.d_ff;
      for (int64_t i = 0; i < k.d_ff; i += V::kLanes) {
        const int count = simd::Count<V>(k.d_ff, i);
        const auto a = V::Load(gate + i, count);
        V::Store(to + i, a * V::Sigmoid(a) * V::Load(value + i, count), count);
      }
    }
  }
};

// With s = sigmoid(a): d(a s b) = a s db + b s (1 + a (1 - s)) da.
template <typename T>
struct Backward {
  const T* gradient;
  const T* gate_value;
  T* result;
  int64_t d_ff;

  template <typename V>
  TRAINBENCH_SIMD static void Run(const Backward& k, int64_t first,
                                  int64_t end) {
    for (int64_t row = first; row < end; ++row) {
      const T* const gate = k.gate_value + row * 2 * k.d_ff;
      const T* const value = gate + k.d_ff;
      T* const to = k.result + row * 2 * k.d_ff;
      for (int64_t i = 0; i < k.d_ff; i += V::kLanes) {
        const int count = simd::Count<V>(k.d_ff, i);
        const auto a = V::Load(gate + i, count);
        const auto s = V::Sigmoid(a);
        const auto g = V::Load(k.gradient + row * k.d_ff + i, count) * s;
        V::Store(to + i,
                 g * V::Load(value + i, count) * (1.0F + a * (1.0F - s)),
                 count);
        V::Store(to + k.d_ff + i, g * a, count);
      }
    }
  }
};

}  // namespace

at::Tensor SwigluCpu(const at::Tensor& gate_value) {
  const int64_t d_ff = gate_value.size(-1) / 2;
  std::vector<int64_t> sizes = gate_value.sizes().vec();
  sizes.back() = d_ff;
  const at::Tensor result = at::empty(sizes, gate_value.options());
  WithElements(gate_value.scalar_type(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const Forward<T> kernel = {
        static_cast<const T*>(gate_value.const_data_ptr()),
        static_cast<T*>(result.data_ptr()), d_ff};
    ForRows(result.numel() / d_ff, d_ff, [&](int64_t first, int64_t end) {
      simd::Run<Forward<T>>(kernel, first, end);
    });
  });
  return result;
}

at::Tensor SwigluBackwardCpu(const at::Tensor& gradient,
                             const at::Tensor& gate_value) {
  const int64_t d_ff = gradient.size(-1);
  const at::Tensor result = at::empty_like(gate_value);
  WithElements(gate_value.scalar_type(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const Backward<T> kernel = {
        static_cast<const T*>(gradient.const_data_ptr()),
        static_cast<const T*>(gate_value.const_data_ptr()),
        static_cast<T*>(result.data_ptr()), d_ff};
    ForRows(gradient.numel() / d_ff, d_ff, [&](int64_t first, int64_t end) {
      simd::Run<Backward<T>>(kernel, first, end);
    });
  });
  return result;
}

}  // namespace trainbench
