// SPDX-License-Identifier: MIT
// The error for a value that is not allowed, worded the same way everywhere.

#ifndef TRAINBENCH_MODEL_SPEC_NOT_ALLOWED_H_
#define TRAINBENCH_MODEL_SPEC_NOT_ALLOWED_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace trainbench {

// InvalidArgument "<what> is <value>; allowed: <allowed>". TextNotAllowed
// quotes the value.
inline absl::Status NotAllowed(absl::string_view what,
                               const absl::AlphaNum& value,
                               absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is ", value, "; allowed: ", allowed));
}
inline absl::Status TextNotAllowed(absl::string_view what,
                                   absl::string_view value,
                                   absl::string_view allowed) {
  return NotAllowed(what, absl::StrCat("'", value, "'"), allowed);
}

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_NOT_ALLOWED_H_
