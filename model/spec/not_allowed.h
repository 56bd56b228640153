// SPDX-License-Identifier: MIT
// The error for a value that is not allowed, worded the same way everywhere,
// and the look-up of a value by name.

#ifndef TRAINBENCH_MODEL_SPEC_NOT_ALLOWED_H_
#define TRAINBENCH_MODEL_SPEC_NOT_ALLOWED_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

// "a, b, c": the allowed names.
template <typename Values, typename NameOf>
std::string JoinNames(const Values& values, NameOf name_of) {
  std::vector<absl::string_view> names;
  for (const auto value : values) names.push_back(name_of(value));
  return absl::StrJoin(names, ", ");
}

// Returns the element of `values` with this name. InvalidArgument names the
// value and lists all names.
template <typename Values, typename NameOf>
absl::StatusOr<typename Values::value_type> ParseName(absl::string_view what,
                                                      absl::string_view name,
                                                      const Values& values,
                                                      NameOf name_of) {
  for (const auto value : values) {
    if (name == name_of(value)) return value;
  }
  return TextNotAllowed(what, name, JoinNames(values, name_of));
}

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_NOT_ALLOWED_H_
