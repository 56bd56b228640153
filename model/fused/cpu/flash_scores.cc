// SPDX-License-Identifier: MIT

#include "model/fused/cpu/flash_scores.h"

#include <type_traits>

#include "model/fused/cpu/simd.h"

namespace trainbench {
namespace {

template <typename Operand>
inline constexpr bool kIsFloat = std::is_same_v<Operand, float>;

template <typename V>
TRAINBENCH_SIMD typename V::Floats Load(const float* from) {
  return V::Load(from, V::kLanes);
}

template <typename V, typename T>
TRAINBENCH_SIMD void Store(T* to, const typename V::Floats& x) {
  V::Store(to, x, V::kLanes);
}

// Stores `even` and `odd` interleaved, in bf16, rounded to nearest even.
template <typename V>
TRAINBENCH_SIMD void StoreInterleaved(float* to, const typename V::Floats& even,
                                      const typename V::Floats& odd) {
  const typename V::Ints both =
      ((V::Rounded(even) >> 16) & 0xffff) |
      (V::Rounded(odd) & static_cast<int32_t>(0xffff0000U));
  std::memcpy(to, &both, sizeof(both));
}

template <typename V>
TRAINBENCH_SIMD typename V::Floats LargestScores(const ScoreTile& t,
                                                 int64_t r) {
  auto largest = V::Broadcast(simd::kMinusInfinity);
  for (int64_t c = 0; c < t.keys; ++c) {
    largest = V::Max(Load<V>(t.scores + c * t.stride + r), largest);
  }
  return largest;
}

// Replaces the scores of one vector of queries by weights. Returns their sums.
template <typename V, typename Operand>
TRAINBENCH_SIMD typename V::Floats StoreWeights(
    const ScoreTile& t, int64_t r, const typename V::Floats& maximum) {
  typename V::Floats sum{};
  for (int64_t c = 0; c < t.keys; c += kIsFloat<Operand> ? 1 : 2) {
    float* const from = t.scores + c * t.stride + r;
    const auto even = V::Exp(Load<V>(from) * t.scale - maximum);
    sum += even;
    if constexpr (kIsFloat<Operand>) {
      Store<V>(from, even);
    } else {
      typename V::Floats odd{};
      if (c + 1 < t.keys) {
        odd = V::Exp(Load<V>(from + t.stride) * t.scale - maximum);
      }
      sum += odd;
      StoreInterleaved<V>(t.scores + c / 2 * t.stride + r, even, odd);
    }
  }
  return sum;
}

template <typename Operand>
struct SoftmaxKernel {
  template <typename V>
  TRAINBENCH_SIMD static void Run(const ScoreTile& t, float* maxima,
                                  float* sums, float* factors, bool* changed) {
    *changed = false;
    for (int64_t r = 0; r < t.queries; r += V::kLanes) {
      const auto before = Load<V>(maxima + r);
      const auto maximum = V::Max(LargestScores<V>(t, r) * t.scale, before);
      const auto factor = V::Exp(before - maximum);
      const auto sum = StoreWeights<V, Operand>(t, r, maximum);
      Store<V>(maxima + r, maximum);
      Store<V>(sums + r, Load<V>(sums + r) * factor + sum);
      Store<V>(factors + r, factor);
    }
    for (int64_t r = 0; r < t.queries; ++r) *changed |= factors[r] != 1.0F;
  }
};

struct ScaleKernel {
  template <typename V>
  TRAINBENCH_SIMD static void Run(float* matrix, int64_t rows, int64_t columns,
                                  int64_t stride, const float* factors) {
    for (int64_t r = 0; r < columns; r += V::kLanes) {
      const auto factor = Load<V>(factors + r);
      for (int64_t k = 0; k < rows; ++k) {
        float* const at = matrix + k * stride + r;
        Store<V>(at, Load<V>(at) * factor);
      }
    }
  }
};

// Replaces the scores of key c by weights. Returns the scores' gradient.
template <typename V, typename Operand>
TRAINBENCH_SIMD typename V::Floats GradientOf(
    const GradientTile& g, int64_t c, int64_t r,
    const typename V::Floats& log_sum_exp, const typename V::Floats& mean,
    Operand* rows) {
  const ScoreTile& t = g.tile;
  float* const row = t.scores + c * t.stride;
  const auto weight = V::Exp(Load<V>(row + r) * t.scale - log_sum_exp);
  const auto change = Load<V>(g.gradients + c * t.stride + r) - mean;
  const typename V::Floats gradient = weight * change * t.scale;
  if constexpr (kIsFloat<Operand>) {
    Store<V>(row + r, weight);
  } else {
    // At half the scores' offset in the row, where they have all been read.
    Store<V>(reinterpret_cast<Operand*>(row) + r, weight);
    Store<V>(rows + c * t.stride + r, gradient);
  }
  return gradient;
}

template <typename Operand>
struct GradientKernel {
  template <typename V>
  TRAINBENCH_SIMD static void Run(const GradientTile& g, Operand* rows) {
    const ScoreTile& t = g.tile;
    for (int64_t r = 0; r < t.queries; r += V::kLanes) {
      const auto log_sum_exp = Load<V>(g.log_sum_exp + r);
      const auto mean = Load<V>(g.means + r);
      const auto gradient = [&](int64_t c) __attribute__((always_inline)) {
        return GradientOf<V, Operand>(g, c, r, log_sum_exp, mean, rows);
      };
      for (int64_t c = 0; c < t.keys; c += kIsFloat<Operand> ? 1 : 2) {
        const auto even = gradient(c);
        if constexpr (kIsFloat<Operand>) {
          Store<V>(g.gradients + c * t.stride + r, even);
        } else {
          typename V::Floats odd{};
          if (c + 1 < t.keys) odd = gradient(c + 1);
          StoreInterleaved<V>(g.gradients + c / 2 * t.stride + r, even, odd);
        }
      }
    }
  }
};

}  // namespace

template <typename Operand>
bool UpdateSoftmax(const ScoreTile& tile, float* maxima, float* sums,
                   float* factors) {
  bool changed = false;
  simd::Run<SoftmaxKernel<Operand>>(tile, maxima, sums, factors, &changed);
  return changed;
}

void ScaleColumns(float* matrix, int64_t rows, int64_t columns, int64_t stride,
                  const float* factors) {
  simd::Run<ScaleKernel>(matrix, rows, columns, stride, factors);
}

template <typename Operand>
void ComputeGradients(const GradientTile& tile, Operand* rows) {
  simd::Run<GradientKernel<Operand>>(tile, rows);
}

template bool UpdateSoftmax<float>(const ScoreTile&, float*, float*, float*);
template bool UpdateSoftmax<c10::BFloat16>(const ScoreTile&, float*, float*,
                                           float*);
template void ComputeGradients<float>(const GradientTile&, float*);
template void ComputeGradients<c10::BFloat16>(const GradientTile&,
                                              c10::BFloat16*);

}  // namespace trainbench
