// SPDX-License-Identifier: MIT

#include "model/nn/attention/sdpa_backend.h"

#include <ATen/Context.h>

namespace trainbench {

SdpaBackendScope::Enabled SdpaBackendScope::Get() {
  const at::Context& context = at::globalContext();
  return {.math = context.userEnabledMathSDP(),
          .flash = context.userEnabledFlashSDP(),
          .efficient = context.userEnabledMemEfficientSDP(),
          .cudnn = context.userEnabledCuDNNSDP(),
          .overrideable = context.userEnabledOverrideableSDP()};
}

void SdpaBackendScope::Set(const Enabled& enabled) {
  at::Context& context = at::globalContext();
  context.setSDPUseMath(enabled.math);
  context.setSDPUseFlash(enabled.flash);
  context.setSDPUseMemEfficient(enabled.efficient);
  context.setSDPUseCuDNN(enabled.cudnn);
  context.setSDPUseOverrideable(enabled.overrideable);
}

SdpaBackendScope::SdpaBackendScope(SdpaBackend backend) : saved_(Get()) {
  Set({.math = backend == SdpaBackend::kMath,
       .flash = backend == SdpaBackend::kFlash,
       .efficient = backend == SdpaBackend::kEfficient,
       .cudnn = backend == SdpaBackend::kCudnn,
       .overrideable = false});
}

SdpaBackendScope::~SdpaBackendScope() { Set(saved_); }

}  // namespace trainbench
