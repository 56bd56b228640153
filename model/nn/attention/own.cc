// SPDX-License-Identifier: MIT
// FlashAttention-2 in our own kernels.

#include "model/fused/attention.h"
#include "model/nn/attention/variants.h"
#include "model/nn/component.h"

namespace trainbench {

at::Tensor OwnAttention(const at::Tensor& q, const at::Tensor& k,
                        const at::Tensor& v) {
  const ComponentScope scope(Component::kFusedAttention);
  return FusedAttention(q, k, v);
}

}  // namespace trainbench
