// SPDX-License-Identifier: MIT

#include "model/nn/attention/variants.h"

#include <c10/util/Exception.h>

namespace trainbench {

at::Tensor ComputeAttention(AttentionKind kind, const at::Tensor& q,
                            const at::Tensor& k, const at::Tensor& v) {
  switch (kind) {
#define ATTENTION(Name, ...)   \
  case AttentionKind::k##Name: \
    return Name##Attention(q, k, v);
#include "model/spec/attention_variants.inc"
#undef ATTENTION
  }
  TORCH_CHECK(false, "unknown attention variant");
}

}  // namespace trainbench
