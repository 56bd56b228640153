// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <cmath>

#include "model/dry_run/dry_run.h"
#include "model/fused/cpu/operations.h"
#include "model/fused/cpu/row_kernel.h"
#include "model/fused/cpu/simd.h"

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

// Replaces x by factor * e^(scale (x - max)). Recomputes e^x, because storing
// it before the sum is known would round it twice in bf16.
template <typename V, typename T>
TRAINBENCH_SIMD void ReplaceByExp(T* x, int64_t size, float max, float scale,
                                  float factor) {
  for (int64_t i = 0; i < size; i += V::kLanes) {
    const int count = simd::Count<V>(size, i);
    V::Store(x + i, V::Exp((V::Load(x + i, count) - max) * scale) * factor,
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
struct CausalForward {
  T* scores;
  int64_t keys;
  float scale;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t row) const {
    T* const x = scores + row * keys;
    const int64_t seen = row % keys + 1;
    const float max = MaxOf<V>(x, seen);
    const float sum = SumOfExp<V>(x, seen, max, scale);
    ReplaceByExp<V>(x, seen, max, scale, 1 / sum);
    Clear<V>(x + seen, keys - seen);
  }
};

// The gradient of the scores for weights p: scale * p (dp - sum(p dp)).
template <typename T>
struct CausalBackward {
  const T* gradient;
  const T* weights;
  T* result;
  int64_t keys;
  float scale;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t row) const {
    const T* const dp = gradient + row * keys;
    const T* const p = weights + row * keys;
    T* const to = result + row * keys;
    const int64_t seen = row % keys + 1;
    typename V::Floats dot{};
    for (int64_t i = 0; i < seen; i += V::kLanes) {
      const int count = simd::Count<V>(seen, i);
      dot += V::Load(p + i, count) * V::Load(dp + i, count);
    }
    const float mean = V::Sum(dot);
    for (int64_t i = 0; i < seen; i += V::kLanes) {
      const int count = simd::Count<V>(seen, i);
      V::Store(to + i,
               V::Load(p + i, count) * (V::Load(dp + i, count) - mean) * scale,
               count);
    }
    Clear<V>(to + seen, keys - seen);
  }
};

template <typename T>
struct CrossEntropyRows {
  T* logits;
  const int64_t* targets;
  float* losses;
  int64_t vocab;
  float factor;  // scales the gradient: 1 / rows; 0: keeps the logits

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t row) const {
    T* const x = logits + row * vocab;
    const int64_t target = targets[row];
    const float max = MaxOf<V>(x, vocab);
    const float sum = SumOfExp<V>(x, vocab, max, 1);
    const float chosen = static_cast<float>(x[target]) - max;
    losses[row] = std::log(sum) - chosen;
    if (factor == 0) return;
    ReplaceByExp<V>(x, vocab, max, 1, factor / sum);
    x[target] = static_cast<T>((std::exp(chosen) / sum - 1) * factor);
  }
};

}  // namespace

void CausalSoftmaxInPlaceCpu(const at::Tensor& scores, double scale) {
  const int64_t keys = scores.size(-1);
  WithElements(scores.scalar_type(), [&](auto element) {
    using T = decltype(element);
    const CausalForward<T> kernel = {scores.data_ptr<T>(), keys,
                                     static_cast<float>(scale)};
    RunRows(kernel, scores.numel() / keys, keys);
  });
}

at::Tensor CausalSoftmaxBackwardCpu(const at::Tensor& gradient,
                                    const at::Tensor& weights, double scale) {
  const int64_t keys = weights.size(-1);
  const at::Tensor result = at::empty_like(weights);
  WithElements(weights.scalar_type(), [&](auto element) {
    using T = decltype(element);
    const CausalBackward<T> kernel = {
        gradient.data_ptr<T>(), weights.data_ptr<T>(), result.data_ptr<T>(),
        keys, static_cast<float>(scale)};
    RunRows(kernel, weights.numel() / keys, keys);
  });
  return result;
}

at::Tensor CrossEntropyInPlaceCpu(const at::Tensor& logits,
                                  const at::Tensor& targets,
                                  bool with_gradient) {
  const int64_t rows = logits.size(0), vocab = logits.size(1);
  const int64_t* const ids = targets.const_data_ptr<int64_t>();
  for (int64_t row = 0; row < rows && !DryRun::IsOn(); ++row) {
    TORCH_CHECK(ids[row] >= 0 && ids[row] < vocab, "a target is ", ids[row],
                "; allowed: 0 to ", vocab - 1);
  }
  const at::Tensor losses =
      at::empty({rows}, logits.options().dtype(at::kFloat));
  WithElements(logits.scalar_type(), [&](auto element) {
    using T = decltype(element);
    const CrossEntropyRows<T> kernel = {
        logits.data_ptr<T>(), ids, losses.data_ptr<float>(), vocab,
        with_gradient ? 1 / static_cast<float>(rows) : 0};
    RunRows(kernel, rows, vocab);
  });
  return losses;
}

}  // namespace trainbench
