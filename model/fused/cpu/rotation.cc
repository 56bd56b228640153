// SPDX-License-Identifier: MIT

#include "model/fused/rotation.h"

#include <torch/types.h>

#include "model/fused/cpu/row_kernel.h"
#include "model/fused/cpu/simd.h"
#include "model/fused/launch.h"

namespace trainbench {
namespace {

// (e, o) -> (e cos - o sin, e sin + o cos) for each pair of channels; a
// direction of -1 rotates back.
template <typename V, typename T>
TRAINBENCH_SIMD void RotateHead(const T* from, T* to, const float* cos,
                                const float* sin, int64_t d_head,
                                float direction) {
  const auto signs = V::PairSigns() * direction;
  for (int64_t i = 0; i < d_head; i += V::kLanes) {
    const int count = simd::Count<V>(d_head, i);
    const auto x = V::Load(from + i, count);
    const auto c = V::LoadTwice(cos + i / 2, count);
    const auto s = V::LoadTwice(sin + i / 2, count) * signs;
    V::Store(to + i, x * c + V::SwapPairs(x) * s, count);
  }
}

template <typename T>
struct RopeForward {
  T* qkv;
  const float* cos;
  const float* sin;
  // Heads per token: all, and the rotated ones, which come first.
  int64_t seq, heads, rotated, d_head;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t token) const {
    const int64_t half = d_head / 2;
    T* const row = qkv + token * heads * d_head;
    const int64_t t = token % seq;
    for (int64_t head = 0; head < rotated; ++head) {
      T* const x = row + head * d_head;
      RotateHead<V>(x, x, cos + t * half, sin + t * half, d_head, 1);
    }
  }
};

// Layout of the gradient of q, k or v.
template <typename T>
struct Gradient {
  const T* data;
  int64_t heads, batch_stride, head_stride, token_stride;
};

template <typename T>
struct RopeBackward {
  std::array<Gradient<T>, 3> from;
  T* to;
  const float* cos;
  const float* sin;
  int64_t seq, heads, d_head;  // heads per token, of q, k and v

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t token) const {
    const int64_t half = d_head / 2;
    const int64_t t = token % seq, b = token / seq;
    T* result = to + token * heads * d_head;
    for (int part = 0; part < 3; ++part) {
      const Gradient<T>& g = from.data()[part];
      const T* const row = g.data + b * g.batch_stride + t * g.token_stride;
      for (int64_t head = 0; head < g.heads; ++head, result += d_head) {
        const T* const x = row + head * g.head_stride;
        if (part == 2) {
          std::memcpy(result, x, static_cast<std::size_t>(d_head) * sizeof(T));
        } else {
          RotateHead<V>(x, result, cos + t * half, sin + t * half, d_head, -1);
        }
      }
    }
  }
};

}  // namespace

void RotateInPlaceCpu(const at::Tensor& qkv, int64_t heads,
                      const at::Tensor& cos, const at::Tensor& sin) {
  const int64_t seq = qkv.size(1), all = qkv.size(2), d_head = qkv.size(3);
  const int64_t rotated = heads + (all - heads) / 2;
  WithElements(DtypeOf(qkv), [&](auto element) {
    using T = decltype(element);
    const RopeForward<T> kernel = {qkv.data_ptr<T>(),
                                   cos.const_data_ptr<float>(),
                                   sin.const_data_ptr<float>(),
                                   seq,
                                   all,
                                   rotated,
                                   d_head};
    RunRows(kernel, qkv.size(0) * seq, rotated * d_head);
  });
}

at::Tensor RotateBackCpu(const std::array<at::Tensor, 3>& gradients,
                         const at::Tensor& cos, const at::Tensor& sin) {
  const at::Tensor& q = gradients[0];
  const int64_t batch = q.size(0), seq = q.size(2), d_head = q.size(3);
  const int64_t heads = q.size(1) + 2 * gradients[1].size(1);
  const at::Tensor result = at::empty({batch, seq, heads, d_head}, q.options());
  WithElements(DtypeOf(q), [&](auto element) {
    using T = decltype(element);
    const auto gradient = [](const at::Tensor& g) {
      return Gradient<T>{g.const_data_ptr<T>(), g.size(1), g.stride(0),
                         g.stride(1), g.stride(2)};
    };
    const RopeBackward<T> kernel = {
        {gradient(gradients[0]), gradient(gradients[1]),
         gradient(gradients[2])},
        result.data_ptr<T>(),
        cos.const_data_ptr<float>(),
        sin.const_data_ptr<float>(),
        seq,
        heads,
        d_head};
    RunRows(kernel, batch * seq, heads * d_head);
  });
  return result;
}

}  // namespace trainbench
