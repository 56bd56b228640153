// SPDX-License-Identifier: MIT

#include "model/spec/comm_backend.h"

namespace trainbench {

absl::string_view CommBackendName(CommBackend backend) {
  switch (backend) {
    case CommBackend::kGloo:
      return "gloo";
    case CommBackend::kNccl:
      return "nccl";
  }
  return "unknown";
}

}  // namespace trainbench
