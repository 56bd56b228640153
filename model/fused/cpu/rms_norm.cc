// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "model/fused/cpu/operations.h"
#include "model/fused/cpu/row_kernel.h"
#include "model/fused/cpu/simd.h"

namespace trainbench {
namespace {

template <typename R, typename E>
struct NormForward {
  const R* residual;
  const E* update;  // null: no addition
  const R* weight;
  R* sum;
  E* normed;
  float* inverse_rms;
  int64_t dim;
  float eps;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t row) const {
    const R* const x = update == nullptr ? residual + row * dim : Add<V>(row);
    const float inverse = 1 / std::sqrt(MeanSquare<V>(x) + eps);
    inverse_rms[row] = inverse;
    E* const y = normed + row * dim;
    for (int64_t i = 0; i < dim; i += V::kLanes) {
      const int count = simd::Count<V>(dim, i);
      V::Store(y + i,
               V::Load(x + i, count) * inverse * V::Load(weight + i, count),
               count);
    }
  }

 private:
  // The next passes read the stored, rounded values from the cache.
  template <typename V>
  TRAINBENCH_SIMD const R* Add(int64_t row) const {
    const R* const a = residual + row * dim;
    const E* const b = update + row * dim;
    R* const to = sum + row * dim;
    for (int64_t i = 0; i < dim; i += V::kLanes) {
      const int count = simd::Count<V>(dim, i);
      V::Store(to + i, V::Load(a + i, count) + V::Load(b + i, count), count);
    }
    return to;
  }

  template <typename V>
  TRAINBENCH_SIMD float MeanSquare(const R* x) const {
    typename V::Floats squares{};
    for (int64_t i = 0; i < dim; i += V::kLanes) {
      const auto v = V::Load(x + i, simd::Count<V>(dim, i));
      squares += v * v;
    }
    return V::Sum(squares) / static_cast<float>(dim);
  }
};

// With s = 1 / rms and y = w x s: dx = s (w dy) - x s^3 mean(w dy x).
template <typename R, typename E>
struct NormBackward {
  const R* sum_gradient;  // null: 0
  const E* normed_gradient;
  const R* sum;
  const float* inverse_rms;
  const R* weight;
  R* residual_gradient;
  E* update_gradient;       // null: equals residual_gradient
  float* partial_gradient;  // the weight's, [parts, dim], initially 0
  int64_t dim, rows, rows_per_part;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t part) const {
    float* const dw = partial_gradient + part * dim;
    const int64_t last = (part + 1) * rows_per_part;
    for (int64_t row = part * rows_per_part; row < (last < rows ? last : rows);
         ++row) {
      Row<V>(row, dw);
    }
  }

 private:
  template <typename V>
  TRAINBENCH_SIMD void Row(int64_t row, float* dw) const {
    const int64_t start = row * dim;
    const E* const dy = normed_gradient + start;
    const R* const x = sum + start;
    const float s = inverse_rms[row];
    typename V::Floats dot{};
    for (int64_t i = 0; i < dim; i += V::kLanes) {
      const int count = simd::Count<V>(dim, i);
      const auto y = V::Load(dy + i, count) * V::Load(x + i, count);
      dot += y * V::Load(weight + i, count);
      V::Store(dw + i, V::Load(dw + i, count) + y * s, count);
    }
    // s^2 first, because s^3 alone may overflow.
    const float along = V::Sum(dot) * s * s / static_cast<float>(dim) * s;
    for (int64_t i = 0; i < dim; i += V::kLanes) {
      const int count = simd::Count<V>(dim, i);
      auto dx = V::Load(dy + i, count) * V::Load(weight + i, count) * s -
                V::Load(x + i, count) * along;
      if (sum_gradient != nullptr) {
        dx += V::Load(sum_gradient + start + i, count);
      }
      V::Store(residual_gradient + start + i, dx, count);
      if (update_gradient != nullptr) {
        V::Store(update_gradient + start + i, dx, count);
      }
    }
  }
};

template <typename T>
T* Data(const at::Tensor& x) {
  return x.defined() ? static_cast<T*>(x.data_ptr()) : nullptr;
}

// Calls f with an R and an E.
template <typename F>
void WithDtypes(at::ScalarType residual, at::ScalarType update, F f) {
  WithElements(residual, [&](auto r) {
    if (residual == update) return f(r, r);
    TORCH_CHECK(residual == at::kFloat && update == at::kBFloat16,
                "the norm's residual is ", residual, " and its update ", update,
                "; allowed: the same dtype, or Float and BFloat16");
    f(float(), c10::BFloat16());
  });
}

}  // namespace

void AddRmsNormCpu(const at::Tensor& residual, const at::Tensor& update,
                   const at::Tensor& weight, double eps,
                   const FusedNormResult& to) {
  const at::ScalarType normed = to.normed.scalar_type();
  WithDtypes(residual.scalar_type(), normed, [&](auto r, auto e) {
    using R = decltype(r);
    using E = decltype(e);
    const NormForward<R, E> kernel = {
        Data<R>(residual),  Data<E>(update),
        Data<R>(weight),    update.defined() ? Data<R>(to.sum) : nullptr,
        Data<E>(to.normed), Data<float>(to.inverse_rms),
        weight.numel(),     static_cast<float>(eps)};
    RunRows(kernel, to.inverse_rms.numel(), kernel.dim);
  });
}

void AddRmsNormBackwardCpu(const at::Tensor& sum_gradient,
                           const at::Tensor& normed_gradient,
                           const at::Tensor& sum, const at::Tensor& inverse_rms,
                           const at::Tensor& weight, NormGradients& to) {
  constexpr int64_t kMostParts = 64, kLeastRows = 8;
  const int64_t rows = inverse_rms.numel();
  const int64_t rows_per_part =
      std::max(kLeastRows, (rows + kMostParts - 1) / kMostParts);
  const int64_t parts = (rows + rows_per_part - 1) / rows_per_part;
  const at::Tensor partial =
      at::zeros({parts, weight.numel()}, weight.options().dtype(at::kFloat));
  const at::ScalarType normed = normed_gradient.scalar_type();
  WithDtypes(sum.scalar_type(), normed, [&](auto r, auto e) {
    using R = decltype(r);
    using E = decltype(e);
    const NormBackward<R, E> kernel = {
        Data<R>(sum_gradient), Data<E>(normed_gradient),
        Data<R>(sum),          Data<float>(inverse_rms),
        Data<R>(weight),       Data<R>(to.residual),
        Data<E>(to.update),    Data<float>(partial),
        weight.numel(),        rows,
        rows_per_part};
    RunRows(kernel, parts, rows_per_part * kernel.dim);
  });
  to.weight = partial.sum(0).to(weight.scalar_type());
}

}  // namespace trainbench
