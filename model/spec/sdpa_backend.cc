// SPDX-License-Identifier: MIT

#include "model/spec/sdpa_backend.h"

namespace trainbench {

absl::string_view SdpaBackendName(SdpaBackend backend) {
  switch (backend) {
    case SdpaBackend::kMath:
      return "math";
    case SdpaBackend::kFlash:
      return "flash";
    case SdpaBackend::kEfficient:
      return "efficient";
    case SdpaBackend::kCudnn:
      return "cudnn";
  }
  return "unknown";
}

}  // namespace trainbench
