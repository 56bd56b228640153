// SPDX-License-Identifier: MIT
// The check that inputs of closed forms share.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_POSITIVE_H_
#define TRAINBENCH_MODEL_ACCOUNTING_POSITIVE_H_

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace trainbench {

inline bool IsPositive(double value) {
  return value > 0 && std::isfinite(value);
}

// InvalidArgument that names `what` and its value.
inline absl::Status NotPositive(absl::string_view what, double value) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is ", value, "; allowed: positive and finite"));
}

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_POSITIVE_H_
