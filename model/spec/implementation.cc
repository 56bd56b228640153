// SPDX-License-Identifier: MIT

#include "model/spec/implementation.h"

#include "model/spec/not_allowed.h"

namespace trainbench {

absl::string_view ImplementationName(Implementation implementation) {
  switch (implementation) {
    case Implementation::kTextbook:
      return "textbook";
    case Implementation::kLibrary:
      return "library";
    case Implementation::kFused:
      return "fused";
  }
  return "unknown";
}

absl::StatusOr<Implementation> ParseImplementation(absl::string_view name) {
  return ParseName("implementation", name, kImplementations,
                   ImplementationName);
}

}  // namespace trainbench
