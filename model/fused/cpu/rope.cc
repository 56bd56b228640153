// SPDX-License-Identifier: MIT

#include "model/kernels/rope.h"

#include "model/fused/cpu/launchers.h"
#include "model/fused/cpu/row_kernel.h"
#include "model/fused/cpu/simd.h"

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
struct RotateToken {
  kernels::RopeArgs a;

  template <typename V>
  TRAINBENCH_SIMD void Run(int64_t row) const {
    const int64_t item = row / a.seq, token = row % a.seq;
    const int64_t angle = token * (a.d_head / 2);
    const T* const from = static_cast<const T*>(a.from) +
                          item * a.from_strides.batch +
                          token * a.from_strides.token;
    T* const to = static_cast<T*>(a.to) + item * a.to_strides.batch +
                  token * a.to_strides.token;
    for (int64_t head = 0; head < a.heads; ++head) {
      RotateHead<V>(from + head * a.from_strides.head,
                    to + head * a.to_strides.head, a.cos + angle, a.sin + angle,
                    a.d_head, a.backward ? -1 : 1);
    }
  }
};

}  // namespace

void LaunchOnCpu(const kernels::RopeArgs& args) {
  RunRowsOf<RotateToken>(args, args.batch * args.seq, args.heads * args.d_head);
}

}  // namespace trainbench
