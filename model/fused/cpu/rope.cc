// SPDX-License-Identifier: MIT

#include "model/fused/cpu/rope.h"

#include <torch/types.h>

#include "model/fused/cpu/elements.h"
#include "model/fused/cpu/parallel.h"
#include "model/fused/cpu/simd.h"

namespace trainbench {
namespace {

// (e, o) -> (e cos - o sin, e sin + o cos) for each pair of channels; a
// direction of -1 turns back.
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
struct Forward {
  T* qkv;
  const float* cos;
  const float* sin;
  int64_t seq, heads, d_head;

  template <typename V>
  TRAINBENCH_SIMD static void Run(const Forward& k, int64_t first,
                                  int64_t end) {
    const int64_t half = k.d_head / 2;
    for (int64_t token = first; token < end; ++token) {
      T* const row = k.qkv + token * 3 * k.heads * k.d_head;
      const int64_t t = token % k.seq;
      for (int64_t head = 0; head < 2 * k.heads; ++head) {
        T* const x = row + head * k.d_head;
        RotateHead<V>(x, x, k.cos + t * half, k.sin + t * half, k.d_head, 1);
      }
    }
  }
};

// Where the gradient of one of q, k and v lies.
template <typename T>
struct Gradient {
  const T* data;
  int64_t batch_stride, head_stride, token_stride;
};

template <typename T>
struct Backward {
  std::array<Gradient<T>, 3> from;
  T* to;
  const float* cos;
  const float* sin;
  int64_t seq, heads, d_head;

  template <typename V>
  TRAINBENCH_SIMD static void Run(const Backward& k, int64_t first,
                                  int64_t end) {
    const int64_t half = k.d_head / 2;
    for (int64_t token = first; token < end; ++token) {
      const int64_t t = token % k.seq, b = token / k.seq;
      T* to = k.to + token * 3 * k.heads * k.d_head;
      for (int part = 0; part < 3; ++part) {
        const Gradient<T>& g = k.from.data()[part];
        const T* const row = g.data + b * g.batch_stride + t * g.token_stride;
        for (int64_t head = 0; head < k.heads; ++head, to += k.d_head) {
          const T* const from = row + head * g.head_stride;
          if (part == 2) {
            std::memcpy(to, from,
                        static_cast<std::size_t>(k.d_head) * sizeof(T));
          } else {
            RotateHead<V>(from, to, k.cos + t * half, k.sin + t * half,
                          k.d_head, -1);
          }
        }
      }
    }
  }
};

}  // namespace

void RotateInPlaceCpu(const at::Tensor& qkv, const at::Tensor& cos,
                      const at::Tensor& sin) {
  const int64_t seq = qkv.size(1), heads = qkv.size(3), d_head = qkv.size(4);
  WithElements(qkv.scalar_type(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const Forward<T> kernel = {static_cast<T*>(qkv.data_ptr()),
                               cos.const_data_ptr<float>(),
                               sin.const_data_ptr<float>(),
                               seq,
                               heads,
                               d_head};
    ForRows(qkv.size(0) * seq, 2 * heads * d_head,
            [&](int64_t first, int64_t end) {
              simd::Run<Forward<T>>(kernel, first, end);
            });
  });
}

at::Tensor RotateBackCpu(const std::array<at::Tensor, 3>& gradients,
                         const at::Tensor& cos, const at::Tensor& sin) {
  const at::Tensor& q = gradients[0];
  const int64_t batch = q.size(0), heads = q.size(1), seq = q.size(2),
                d_head = q.size(3);
  const at::Tensor result =
      at::empty({batch, seq, 3, heads, d_head}, q.options());
  WithElements(q.scalar_type(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const auto gradient = [](const at::Tensor& g) {
      return Gradient<T>{static_cast<const T*>(g.const_data_ptr()), g.stride(0),
                         g.stride(1), g.stride(2)};
    };
    const Backward<T> kernel = {{gradient(gradients[0]), gradient(gradients[1]),
                                 gradient(gradients[2])},
                                static_cast<T*>(result.data_ptr()),
                                cos.const_data_ptr<float>(),
                                sin.const_data_ptr<float>(),
                                seq,
                                heads,
                                d_head};
    ForRows(batch * seq, 3 * heads * d_head, [&](int64_t first, int64_t end) {
      simd::Run<Backward<T>>(kernel, first, end);
    });
  });
  return result;
}

}  // namespace trainbench
