// SPDX-License-Identifier: MIT
// How the layers of a model are computed, by name. All compute the same model.

#ifndef TRAINBENCH_MODEL_SPEC_IMPLEMENTATION_H_
#define TRAINBENCH_MODEL_SPEC_IMPLEMENTATION_H_

#include <array>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainbench {

enum class Implementation {
  kTextbook,  // operation by operation, as the formulas are written
  kLibrary,   // LibTorch's operators for norm, SiLU, attention and loss
  kFused,     // ours, model/fused: fewer passes over memory, fewer products
};

inline constexpr std::array<Implementation, 3> kImplementations = {
    Implementation::kTextbook, Implementation::kLibrary,
    Implementation::kFused};

// "textbook", "library", "fused".
absl::string_view ImplementationName(Implementation implementation);

// InvalidArgument names the value and lists the names above.
absl::StatusOr<Implementation> ParseImplementation(absl::string_view name);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_IMPLEMENTATION_H_
