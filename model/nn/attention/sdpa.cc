// SPDX-License-Identifier: MIT
// LibTorch's scaled_dot_product_attention, with the backend that it chooses and
// with each backend alone.

#include <torch/types.h>

#include "model/nn/attention/sdpa_backend.h"
#include "model/nn/attention/variants.h"
#include "model/nn/component.h"

namespace trainbench {
namespace {

at::Tensor RestrictedTo(SdpaBackend backend, const at::Tensor& q,
                        const at::Tensor& k, const at::Tensor& v) {
  const SdpaBackendScope scope(backend);
  return SdpaAttention(q, k, v);
}

}  // namespace

at::Tensor SdpaAttention(const at::Tensor& q, const at::Tensor& k,
                         const at::Tensor& v) {
  if (q.dim() == 3) {  // the fused backends need a dimension of heads
    return SdpaAttention(q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1))
        .squeeze(1);
  }
  const ComponentScope scope(Component::kFusedAttention);
  return at::scaled_dot_product_attention(q, k, v, /*attn_mask=*/{},
                                          /*dropout_p=*/0.0,
                                          /*is_causal=*/true);
}

at::Tensor SdpaMathAttention(const at::Tensor& q, const at::Tensor& k,
                             const at::Tensor& v) {
  return RestrictedTo(SdpaBackend::kMath, q, k, v);
}

at::Tensor SdpaFlashAttention(const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v) {
  return RestrictedTo(SdpaBackend::kFlash, q, k, v);
}

at::Tensor SdpaEfficientAttention(const at::Tensor& q, const at::Tensor& k,
                                  const at::Tensor& v) {
  return RestrictedTo(SdpaBackend::kEfficient, q, k, v);
}

at::Tensor SdpaCudnnAttention(const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v) {
  return RestrictedTo(SdpaBackend::kCudnn, q, k, v);
}

}  // namespace trainbench
