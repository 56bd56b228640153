// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <array>
#include <cstdint>

#include "model/fused/launch.h"
#include "model/fused/rotation.h"
#include "model/kernels/rope.h"

namespace trainbench {
namespace {

// Rotates `from` [batch, heads, seq, d_head] into `to`, which may be the same.
void Rotate(const at::Tensor& from, const at::Tensor& to, const at::Tensor& cos,
            const at::Tensor& sin, bool backward) {
  LaunchOnCuda(from, kernels::RopeArgs{.dtype = DtypeOf(from),
                                       .batch = from.size(0),
                                       .heads = from.size(1),
                                       .seq = from.size(2),
                                       .d_head = from.size(3),
                                       .backward = backward,
                                       .cos = cos.const_data_ptr<float>(),
                                       .sin = sin.const_data_ptr<float>(),
                                       .from = In(from),
                                       .to = Out(to),
                                       .from_strides = StridesOf(from),
                                       .to_strides = StridesOf(to)});
}

// Takes heads of [batch, seq, heads, d_head] -> [batch, count, seq, d_head].
at::Tensor Part(const at::Tensor& qkv, int64_t first, int64_t count) {
  return qkv.narrow(2, first, count).transpose(1, 2);
}

}  // namespace

void RotateInPlaceCuda(const at::Tensor& qkv, int64_t heads,
                       const at::Tensor& cos, const at::Tensor& sin) {
  const int64_t kv_heads = (qkv.size(2) - heads) / 2;
  const at::Tensor both = Part(qkv, 0, heads + kv_heads);
  Rotate(both, both, cos, sin, /*backward=*/false);
}

at::Tensor RotateBackCuda(const std::array<at::Tensor, 3>& gradients,
                          const at::Tensor& cos, const at::Tensor& sin) {
  const auto& [q, k, v] = gradients;
  const int64_t heads = q.size(1), kv_heads = k.size(1);
  at::Tensor result = at::empty(
      {q.size(0), q.size(2), heads + 2 * kv_heads, q.size(3)}, q.options());
  Rotate(q, Part(result, 0, heads), cos, sin, /*backward=*/true);
  Rotate(k, Part(result, heads, kv_heads), cos, sin, /*backward=*/true);
  Part(result, heads + kv_heads, kv_heads).copy_(v);
  return result;
}

}  // namespace trainbench
