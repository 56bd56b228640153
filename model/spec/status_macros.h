// SPDX-License-Identifier: MIT
// Macros that propagate errors, with the names that are usual in projects based
// on Abseil. Abseil itself has none.

#ifndef TRAINBENCH_MODEL_SPEC_STATUS_MACROS_H_
#define TRAINBENCH_MODEL_SPEC_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns the absl::Status of the expression if it is an error.
#define RETURN_IF_ERROR(...)                             \
  do {                                                   \
    if (absl::Status error = __VA_ARGS__; !error.ok()) { \
      return error;                                      \
    }                                                    \
  } while (false)

// Returns the error of the expression, an absl::StatusOr, or assigns its value
// to `target`, a variable or a declaration: ASSIGN_OR_RETURN(int n, Read());
#define ASSIGN_OR_RETURN(target, ...)                                        \
  TRAINBENCH_ASSIGN_OR_RETURN(TRAINBENCH_JOIN(status_or_, __LINE__), target, \
                              __VA_ARGS__)

#define TRAINBENCH_ASSIGN_OR_RETURN(status_or, target, ...)  \
  auto status_or = __VA_ARGS__;                              \
  if (!status_or.ok()) return std::move(status_or).status(); \
  target = *std::move(status_or)
#define TRAINBENCH_JOIN(a, b) TRAINBENCH_JOIN_EXPANDED(a, b)
#define TRAINBENCH_JOIN_EXPANDED(a, b) a##b

#endif  // TRAINBENCH_MODEL_SPEC_STATUS_MACROS_H_
