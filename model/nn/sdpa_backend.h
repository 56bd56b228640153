// SPDX-License-Identifier: MIT
// Forces one backend of scaled dot-product attention, as RAII.

#ifndef TRAINBENCH_MODEL_NN_SDPA_BACKEND_H_
#define TRAINBENCH_MODEL_NN_SDPA_BACKEND_H_

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <string>

#include "absl/strings/string_view.h"
#include "model/spec/sdpa_backend.h"

namespace trainbench {

// Why the backend cannot run on this device type and dtype, as a message for
// the user; empty if it can.
std::string SdpaUnavailable(SdpaBackend backend, c10::DeviceType device,
                            c10::ScalarType dtype);

// Profiler name of the operator that runs in the forward pass if and only if
// this backend does. The backend must be available on `device`.
absl::string_view SdpaOpName(SdpaBackend backend, c10::DeviceType device);

// Restricts scaled_dot_product_attention to one backend. A call that this
// backend cannot serve throws c10::Error instead of using another. The setting
// is process-wide: do not overlap two scopes in different threads. Only forward
// passes need it; a backward pass uses the backend of its forward pass.
class SdpaBackendScope {
 public:
  explicit SdpaBackendScope(SdpaBackend backend);
  ~SdpaBackendScope();
  SdpaBackendScope(const SdpaBackendScope&) = delete;
  SdpaBackendScope& operator=(const SdpaBackendScope&) = delete;

 private:
  struct Enabled {
    bool math, flash, efficient, cudnn, overrideable;
  };
  static Enabled Get();
  static void Set(const Enabled& enabled);

  Enabled saved_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_SDPA_BACKEND_H_
