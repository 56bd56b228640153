// SPDX-License-Identifier: MIT
// LibTorch's scaled_dot_product_attention, with the backend that it chooses and
// with each backend alone.

#include <ATen/Context.h>
#include <torch/types.h>

#include "absl/cleanup/cleanup.h"
#include "model/nn/attention/variants.h"
#include "model/nn/component.h"

namespace trainbench {
namespace {

// The backends that scaled_dot_product_attention may use, in this process.
struct Backends {
  bool math = false;       // separate operations, with the scores in memory
  bool flash = false;      // FlashAttention-2; on a CPU LibTorch's own version
  bool efficient = false;  // xFormers (Rabe and Staats 2021)
  bool cudnn = false;
  bool overrideable = false;  // another device's

  static Backends Get() {
    const at::Context& context = at::globalContext();
    return {.math = context.userEnabledMathSDP(),
            .flash = context.userEnabledFlashSDP(),
            .efficient = context.userEnabledMemEfficientSDP(),
            .cudnn = context.userEnabledCuDNNSDP(),
            .overrideable = context.userEnabledOverrideableSDP()};
  }
  void Set() const {
    at::Context& context = at::globalContext();
    context.setSDPUseMath(math);
    context.setSDPUseFlash(flash);
    context.setSDPUseMemEfficient(efficient);
    context.setSDPUseCuDNN(cudnn);
    context.setSDPUseOverrideable(overrideable);
  }
};

// Throws c10::Error instead of using another backend. The backward pass uses
// the backend of its forward pass. Not for two threads at a time.
at::Tensor RestrictedTo(const Backends& backend, const at::Tensor& q,
                        const at::Tensor& k, const at::Tensor& v) {
  const absl::Cleanup restore = [saved = Backends::Get()] { saved.Set(); };
  backend.Set();
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
  return RestrictedTo({.math = true}, q, k, v);
}

at::Tensor SdpaFlashAttention(const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v) {
  return RestrictedTo({.flash = true}, q, k, v);
}

at::Tensor SdpaEfficientAttention(const at::Tensor& q, const at::Tensor& k,
                                  const at::Tensor& v) {
  return RestrictedTo({.efficient = true}, q, k, v);
}

at::Tensor SdpaCudnnAttention(const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v) {
  return RestrictedTo({.cudnn = true}, q, k, v);
}

}  // namespace trainbench
