// SPDX-License-Identifier: MIT

#include "model/spec/implementation.h"

#include "absl/strings/str_cat.h"

namespace trainbench {

std::string ImplementationUnavailable(Implementation implementation,
                                      DeviceKind device, int64_t d_model) {
  if (implementation != Implementation::kFused || device == DeviceKind::kCpu ||
      d_model <= kMostFusedGpuWidth) {
    return "";
  }
  return absl::StrCat(
      "on a GPU the fused implementation supports norms of at most ",
      kMostFusedGpuWidth, " columns; d_model is ", d_model,
      "; use textbook or library");
}

}  // namespace trainbench
