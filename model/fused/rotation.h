// SPDX-License-Identifier: MIT
// The rotation of queries and keys on each device. On a CPU, one pass over the
// tokens also moves the gradient of the values.

#ifndef TRAINBENCH_MODEL_FUSED_ROTATION_H_
#define TRAINBENCH_MODEL_FUSED_ROTATION_H_

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

namespace trainbench {

// Rotates the queries and keys in qkv [batch, seq, heads + 2 kv_heads, d_head]
// in place. `heads` is the number of query heads. cos and sin [at least seq,
// d_head / 2] are fp32.
void RotateInPlaceCpu(const at::Tensor& qkv, int64_t heads,
                      const at::Tensor& cos, const at::Tensor& sin);
void RotateInPlaceCuda(const at::Tensor& qkv, int64_t heads,
                       const at::Tensor& cos, const at::Tensor& sin);

// Returns the gradient of qkv, given the gradients of q, k and v [batch, heads
// or kv_heads, seq, d_head], each contiguous in d_head. Rotates q's and k's
// back.
at::Tensor RotateBackCpu(const std::array<at::Tensor, 3>& gradients,
                         const at::Tensor& cos, const at::Tensor& sin);
at::Tensor RotateBackCuda(const std::array<at::Tensor, 3>& gradients,
                          const at::Tensor& cos, const at::Tensor& sin);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_ROTATION_H_
