// SPDX-License-Identifier: MIT

#include "model/nn/sdpa_backend.h"

#include <ATen/Context.h>
#include <c10/util/Exception.h>

#include "absl/strings/str_cat.h"

namespace trainbench {

std::string SdpaUnavailable(SdpaBackend backend, c10::DeviceType device,
                            c10::ScalarType dtype) {
  const bool anywhere = backend == SdpaBackend::kMath;
  const bool flash = backend == SdpaBackend::kFlash;
  if (device == c10::kCPU) {
    if (anywhere || flash) return "";
    return absl::StrCat("the ", SdpaBackendName(backend),
                        " attention kernel needs an NVIDIA GPU; this device is "
                        "a CPU, which has math and flash");
  }
  if (device != c10::kCUDA) return "attention kernels are for CPU and CUDA";
  const bool half = dtype == c10::kHalf || dtype == c10::kBFloat16;
  if ((flash || backend == SdpaBackend::kCudnn) && !half) {
    return absl::StrCat("on a GPU the ", SdpaBackendName(backend),
                        " attention kernel computes in bf16 or fp16 only; math "
                        "and efficient take fp32");
  }
  return "";
}

absl::string_view SdpaOpName(SdpaBackend backend, c10::DeviceType device) {
  const bool cpu = device == c10::kCPU;
  switch (backend) {
    case SdpaBackend::kMath:
      return "aten::_scaled_dot_product_attention_math";
    case SdpaBackend::kFlash:
      return cpu ? "aten::_scaled_dot_product_flash_attention_for_cpu"
                 : "aten::_scaled_dot_product_flash_attention";
    case SdpaBackend::kEfficient:
      TORCH_CHECK(!cpu, "a CPU has no efficient attention");
      return "aten::_scaled_dot_product_efficient_attention";
    case SdpaBackend::kCudnn:
      TORCH_CHECK(!cpu, "a CPU has no cuDNN attention");
      return "aten::_scaled_dot_product_cudnn_attention";
  }
  TORCH_CHECK(false, "no such backend");
}

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
