// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <array>
#include <cstdint>

#include "model/fused/launch.h"
#include "model/fused/rotation.h"
#include "model/kernels/rope.h"

namespace trainbench {
namespace {

// Arguments for one tensor, [batch, heads, seq, d_head].
kernels::RopeArgs RopeArgsOf(const at::Tensor& from, const at::Tensor& to,
                             const at::Tensor& cos, const at::Tensor& sin,
                             bool backward) {
  return {.dtype = DtypeOf(from),
          .batch = from.size(0),
          .heads = from.size(1),
          .seq = from.size(2),
          .d_head = from.size(3),
          .backward = backward,
          .cos = cos.const_data_ptr<float>(),
          .sin = sin.const_data_ptr<float>(),
          .from = {In(from), nullptr},
          .to = {Out(to), nullptr},
          .from_strides = StridesOf(from),
          .to_strides = StridesOf(to),
          .tensors = 1};
}

// Rotates queries and keys, in one launch if they have equally many heads.
void Rotate(const std::array<at::Tensor, 2>& from,
            const std::array<at::Tensor, 2>& to, const at::Tensor& cos,
            const at::Tensor& sin, bool backward) {
  kernels::RopeArgs args = RopeArgsOf(from[0], to[0], cos, sin, backward);
  if (from[0].size(1) == from[1].size(1)) {
    args.tensors = 2;
    args.from[1] = In(from[1]);
    args.to[1] = Out(to[1]);
  } else {
    LaunchOnCuda(from[1], RopeArgsOf(from[1], to[1], cos, sin, backward));
  }
  LaunchOnCuda(from[0], args);
}

// Takes heads of [batch, seq, heads, d_head] -> [batch, count, seq, d_head].
at::Tensor Part(const at::Tensor& qkv, int64_t first, int64_t count) {
  return qkv.narrow(2, first, count).transpose(1, 2);
}

}  // namespace

void RotateInPlaceCuda(const at::Tensor& qkv, int64_t heads,
                       const at::Tensor& cos, const at::Tensor& sin) {
  const int64_t kv_heads = (qkv.size(2) - heads) / 2;
  const at::Tensor q = Part(qkv, 0, heads), k = Part(qkv, heads, kv_heads);
  Rotate({q, k}, {q, k}, cos, sin, /*backward=*/false);
}

at::Tensor RotateBackCuda(const std::array<at::Tensor, 3>& gradients,
                          const at::Tensor& cos, const at::Tensor& sin) {
  at::Tensor q = gradients[0], k = gradients[1];
  const int64_t heads = q.size(1), kv_heads = k.size(1);
  if (heads == kv_heads && q.strides() != k.strides()) {
    q = q.contiguous();
    k = k.contiguous();
  }
  at::Tensor result = at::empty(
      {q.size(0), q.size(2), heads + 2 * kv_heads, q.size(3)}, q.options());
  Rotate({q, k}, {Part(result, 0, heads), Part(result, heads, kv_heads)}, cos,
         sin, /*backward=*/true);
  Part(result, heads + kv_heads, kv_heads).copy_(gradients[2]);
  return result;
}

}  // namespace trainbench
