// SPDX-License-Identifier: MIT

#include "model/kernels/softmax.h"

#include <c10/util/Exception.h>

#include <cmath>

#include "model/dry_run/dry_run.h"
#include "model/fused/cpu/launchers.h"
#include "model/fused/cpu/row_kernel.h"
#include "model/fused/cpu/simd.h"
#include "model/kernels/cross_entropy.h"

namespace trainbench {
namespace {

template <typename V, typename T>
TRAINBENCH_SIMD float MaxOf(const T* x, int64_t size) {
  auto most = V::Broadcast(simd::kMinusInfinity);
  for (int64_t i = 0; i < size; i += V::kLanes) {
    const int count = simd::Count<V>(size, i);
    most = V::Max(V::Keep(V::Load(x + i, count), count, simd::kMinusInfinity),
                  most);
  }
  return V::Largest(most);
}

// The sum of e^(scale (x - max)).
template <typename V, typename T>
TRAINBENCH_SIMD float SumOfExp(const T* x, int64_t size, float max,
                               float scale) {
  typename V::Floats sum{};
  for (int64_t i = 0; i < size; i += V::kLanes) {
    const int count = simd::Count<V>(size, i);
    sum += V::Keep(V::Exp((V::Load(x + i, count) - max) * scale), count, 0);
  }
  return V::Sum(sum);
}

// to = factor * e^(scale (x - max)), where `to` may be x. Recomputes e^x,
// because storing it before the sum is known would round it twice in bf16.
template <typename V, typename T>
TRAINBENCH_SIMD void StoreExp(const T* x, T* to, int64_t size, float max,
                              float scale, float factor) {
  for (int64_t i = 0; i < size; i += V::kLanes) {
    const int count = simd::Count<V>(size, i);
    V::Store(to + i, V::Exp((V::Load(x + i, count) - max) * scale) * factor,
             count);
  }
}

template <typename V, typename T>
TRAINBENCH_SIMD void Clear(T* x, int64_t size) {
  for (int64_t i = 0; i < size; i += V::kLanes) {
    V::Store(x + i, typename V::Floats{}, simd::Count<V>(size, i));
  }
}

template <typename T>
struct SoftmaxForward {
  kernels::SoftmaxForwardArgs a;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t row) const {
    T* const p = static_cast<T*>(a.p) + row * a.seq;
    const T* const x = static_cast<const T*>(a.x) + row * a.seq;
    const int64_t seen = row % a.seq + 1;
    const float max = MaxOf<V>(x, seen);
    const float sum = SumOfExp<V>(x, seen, max, a.scale);
    StoreExp<V>(x, p, seen, max, a.scale, 1 / sum);
    Clear<V>(p + seen, a.seq - seen);
  }
};

template <typename T>
struct SoftmaxBackward {
  kernels::SoftmaxBackwardArgs a;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t row) const {
    const T* const dp = static_cast<const T*>(a.grad_p) + row * a.seq;
    const T* const p = static_cast<const T*>(a.p) + row * a.seq;
    T* const to = static_cast<T*>(a.grad_x) + row * a.seq;
    const int64_t seen = row % a.seq + 1;
    typename V::Floats dot{};
    for (int64_t i = 0; i < seen; i += V::kLanes) {
      const int count = simd::Count<V>(seen, i);
      dot += V::Load(p + i, count) * V::Load(dp + i, count);
    }
    const float mean = V::Sum(dot);
    for (int64_t i = 0; i < seen; i += V::kLanes) {
      const int count = simd::Count<V>(seen, i);
      V::Store(
          to + i,
          V::Load(p + i, count) * (V::Load(dp + i, count) - mean) * a.scale,
          count);
    }
    Clear<V>(to + seen, a.seq - seen);
  }
};

template <typename T>
struct CrossEntropyForward {
  kernels::CrossEntropyForwardArgs a;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t row) const {
    T* const x = static_cast<T*>(a.logits) + row * a.columns;
    const int64_t target = a.targets[row];
    const float max = MaxOf<V>(x, a.columns);
    const float sum = SumOfExp<V>(x, a.columns, max, 1);
    const float chosen = static_cast<float>(x[target]) - max;
    a.losses[row] = std::log(sum) - chosen;
    if (!a.gradient) return;
    StoreExp<V>(x, x, a.columns, max, 1, a.scale / sum);
    x[target] = static_cast<T>((std::exp(chosen) / sum - 1) * a.scale);
  }
};

}  // namespace

void LaunchOnCpu(const kernels::SoftmaxForwardArgs& args) {
  RunRowsOf<SoftmaxForward>(args, args.matrices * args.seq, args.seq);
}

void LaunchOnCpu(const kernels::SoftmaxBackwardArgs& args) {
  RunRowsOf<SoftmaxBackward>(args, args.matrices * args.seq, args.seq);
}

void LaunchOnCpu(const kernels::CrossEntropyForwardArgs& args) {
  for (int64_t row = 0; row < args.rows && !DryRun::IsOn(); ++row) {
    const int64_t target = args.targets[row];
    TORCH_CHECK(target >= 0 && target < args.columns, "a target is ", target,
                "; allowed: 0 to ", args.columns - 1);
  }
  RunRowsOf<CrossEntropyForward>(args, args.rows, args.columns);
}

}  // namespace trainbench
