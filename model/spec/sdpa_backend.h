// SPDX-License-Identifier: MIT
// The kernels of scaled dot-product attention, by name.

#ifndef TRAINBENCH_MODEL_SPEC_SDPA_BACKEND_H_
#define TRAINBENCH_MODEL_SPEC_SDPA_BACKEND_H_

#include <array>

#include "absl/strings/string_view.h"

namespace trainbench {

enum class SdpaBackend {
  kMath,       // separate operations, with the [seq, seq] scores in memory
  kFlash,      // FlashAttention-2 (Dao 2023); on a CPU LibTorch's own version
  kEfficient,  // xFormers' memory-efficient attention (Rabe and Staats 2021)
  kCudnn,      // cuDNN's fused attention
};

inline constexpr std::array<SdpaBackend, 4> kSdpaBackends = {
    SdpaBackend::kMath, SdpaBackend::kFlash, SdpaBackend::kEfficient,
    SdpaBackend::kCudnn};

// "math", "flash", "efficient", "cudnn".
absl::string_view SdpaBackendName(SdpaBackend backend);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_SDPA_BACKEND_H_
