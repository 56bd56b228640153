// SPDX-License-Identifier: MIT

#include "model/kernels/rms_norm.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>

#include "model/fused/cpu/launchers.h"
#include "model/fused/cpu/row_kernel.h"
#include "model/fused/cpu/simd.h"

namespace trainbench {
namespace {

constexpr int64_t kMostParts = 64, kLeastRows = 8;

int64_t RowsPerPart(int64_t rows) {
  return std::max(kLeastRows, (rows + kMostParts - 1) / kMostParts);
}

// S is the type of the residual stream, B of its branches.
template <typename S, typename B>
struct NormForward {
  kernels::RmsNormForwardArgs a;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t row) const {
    const S* const weight = static_cast<const S*>(a.weight);
    const S* const x = a.update == nullptr
                           ? static_cast<const S*>(a.x) + row * a.columns
                           : Add<V>(row);
    const float inverse = 1 / std::sqrt(MeanSquare<V>(x) + a.epsilon);
    a.inverse_rms[row] = inverse;
    B* const y = static_cast<B*>(a.y) + row * a.columns;
    for (int64_t i = 0; i < a.columns; i += V::kLanes) {
      const int count = simd::Count<V>(a.columns, i);
      V::Store(y + i,
               V::Load(x + i, count) * inverse * V::Load(weight + i, count),
               count);
    }
  }

 private:
  // The next passes read the stored, rounded values from the cache.
  template <typename V>
  TRAINBENCH_SIMD const S* Add(int64_t row) const {
    const S* const x = static_cast<const S*>(a.x) + row * a.columns;
    const B* const update = static_cast<const B*>(a.update) + row * a.columns;
    S* const sum = static_cast<S*>(a.sum) + row * a.columns;
    for (int64_t i = 0; i < a.columns; i += V::kLanes) {
      const int count = simd::Count<V>(a.columns, i);
      V::Store(sum + i, V::Load(x + i, count) + V::Load(update + i, count),
               count);
    }
    return sum;
  }

  template <typename V>
  TRAINBENCH_SIMD float MeanSquare(const S* x) const {
    typename V::Floats squares{};
    for (int64_t i = 0; i < a.columns; i += V::kLanes) {
      const auto v = V::Load(x + i, simd::Count<V>(a.columns, i));
      squares += v * v;
    }
    return V::Sum(squares) / static_cast<float>(a.columns);
  }
};

// With s = 1 / rms and y = w x s: dx = s (w dy) - x s^3 mean(w dy x).
template <typename S, typename B>
struct NormBackward {
  kernels::RmsNormBackwardArgs a;
  int64_t rows_per_part;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t part) const {
    float* const dw = a.partial + part * a.columns;
    const int64_t last = (part + 1) * rows_per_part;
    for (int64_t row = part * rows_per_part;
         row < (last < a.rows ? last : a.rows); ++row) {
      Row<V>(row, dw);
    }
  }

 private:
  template <typename V>
  TRAINBENCH_SIMD void Row(int64_t row, float* dw) const {
    const int64_t start = row * a.columns;
    const B* const dy = static_cast<const B*>(a.grad_y) + start;
    const S* const x = static_cast<const S*>(a.sum) + start;
    const S* const weight = static_cast<const S*>(a.weight);
    const float s = a.inverse_rms[row];
    typename V::Floats dot{};
    for (int64_t i = 0; i < a.columns; i += V::kLanes) {
      const int count = simd::Count<V>(a.columns, i);
      const auto y = V::Load(dy + i, count) * V::Load(x + i, count);
      dot += y * V::Load(weight + i, count);
      V::Store(dw + i, V::Load(dw + i, count) + y * s, count);
    }
    // s^2 first, because s^3 alone may overflow.
    const float along = V::Sum(dot) * s * s / static_cast<float>(a.columns) * s;
    for (int64_t i = 0; i < a.columns; i += V::kLanes) {
      const int count = simd::Count<V>(a.columns, i);
      auto dx = V::Load(dy + i, count) * V::Load(weight + i, count) * s -
                V::Load(x + i, count) * along;
      if (a.grad_sum != nullptr) {
        dx += V::Load(static_cast<const S*>(a.grad_sum) + start + i, count);
      }
      V::Store(static_cast<S*>(a.grad_x) + start + i, dx, count);
      if (a.grad_update != nullptr) {
        V::Store(static_cast<B*>(a.grad_update) + start + i, dx, count);
      }
    }
  }
};

// Calls f with an S and a B.
template <typename Args, typename F>
void WithTypesOf(const Args& args, F f) {
  WithElements(args.stream, [&](auto stream) {
    if (args.stream == args.branch) return f(stream, stream);
    TORCH_CHECK(args.stream == kernels::Dtype::kFloat32,
                "a stream in bf16 has branches in bf16");
    f(float(), c10::BFloat16());
  });
}

}  // namespace

void LaunchOnCpu(const kernels::RmsNormForwardArgs& args) {
  WithTypesOf(args, [&](auto stream, auto branch) {
    RunRows(NormForward<decltype(stream), decltype(branch)>{args}, args.rows,
            args.columns);
  });
}

int64_t CpuNormParts(int64_t rows) {
  return (rows + RowsPerPart(rows) - 1) / RowsPerPart(rows);
}

void LaunchOnCpu(const kernels::RmsNormBackwardArgs& args) {
  const int64_t rows_per_part = RowsPerPart(args.rows);
  WithTypesOf(args, [&](auto stream, auto branch) {
    const NormBackward<decltype(stream), decltype(branch)> kernel = {
        args, rows_per_part};
    RunRows(kernel, CpuNormParts(args.rows), rows_per_part * args.columns);
  });
}

}  // namespace trainbench
