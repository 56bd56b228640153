// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include "model/fused/cpu/operations.h"
#include "model/fused/cpu/row_kernel.h"
#include "model/fused/cpu/simd.h"

namespace trainbench {
namespace {

template <typename T>
struct SwiGluForward {
  const T* gate_value;
  T* result;
  int64_t d_ff;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t row) const {
    const T* const gate = gate_value + row * 2 * d_ff;
    const T* const value = gate + d_ff;
    T* const to = result + row * d_ff;
    for (int64_t i = 0; i < d_ff; i += V::kLanes) {
      const int count = simd::Count<V>(d_ff, i);
      const auto a = V::Load(gate + i, count);
      V::Store(to + i, a * V::Sigmoid(a) * V::Load(value + i, count), count);
    }
  }
};

// With s = sigmoid(a): d(a s b) = a s db + b s (1 + a (1 - s)) da.
template <typename T>
struct SwiGluBackward {
  const T* gradient;
  const T* gate_value;
  T* result;
  int64_t d_ff;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t row) const {
    const T* const gate = gate_value + row * 2 * d_ff;
    const T* const value = gate + d_ff;
    T* const to = result + row * 2 * d_ff;
    for (int64_t i = 0; i < d_ff; i += V::kLanes) {
      const int count = simd::Count<V>(d_ff, i);
      const auto a = V::Load(gate + i, count);
      const auto s = V::Sigmoid(a);
      const auto g = V::Load(gradient + row * d_ff + i, count) * s;
      V::Store(to + i, g * V::Load(value + i, count) * (1.0F + a * (1.0F - s)),
               count);
      V::Store(to + d_ff + i, g * a, count);
    }
  }
};

}  // namespace

at::Tensor SwigluCpu(const at::Tensor& gate_value) {
  const int64_t d_ff = gate_value.size(-1) / 2;
  std::vector<int64_t> sizes = gate_value.sizes().vec();
  sizes.back() = d_ff;
  const at::Tensor result = at::empty(sizes, gate_value.options());
  WithElements(gate_value.scalar_type(), [&](auto element) {
    using T = decltype(element);
    const SwiGluForward<T> kernel = {gate_value.const_data_ptr<T>(),
                                     result.data_ptr<T>(), d_ff};
    RunRows(kernel, result.numel() / d_ff, d_ff);
  });
  return result;
}

at::Tensor SwigluBackwardCpu(const at::Tensor& gradient,
                             const at::Tensor& gate_value) {
  const int64_t d_ff = gradient.size(-1);
  const at::Tensor result = at::empty_like(gate_value);
  WithElements(gate_value.scalar_type(), [&](auto element) {
    using T = decltype(element);
    const SwiGluBackward<T> kernel = {gradient.const_data_ptr<T>(),
                                      gate_value.const_data_ptr<T>(),
                                      result.data_ptr<T>(), d_ff};
    RunRows(kernel, gradient.numel() / d_ff, d_ff);
  });
  return result;
}

}  // namespace trainbench
