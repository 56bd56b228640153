// SPDX-License-Identifier: MIT
// How far the results of a case deviate from its references.

#ifndef TRAINBENCH_MODEL_SPEC_CHECK_LOG_H_
#define TRAINBENCH_MODEL_SPEC_CHECK_LOG_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trainbench {

// Returns FailedPrecondition, e.g. "gradient_error 0.12 > 0.1 in parameter 3",
// unless `error` <= `allowed` (NaN always fails). Reports the error to the
// CheckLog that is running a check on this thread, if any.
absl::Status CheckError(absl::string_view name, double error, double allowed,
                        absl::string_view where = "");

// Adds a text to that CheckLog about something that a check could not measure.
void AddToCheckLog(absl::string_view word, absl::string_view text);

// Collects the errors that the checks of a case measured, on one thread.
class CheckLog {
 public:
  // If `goes_on`, CheckError returns OK within a check, so that the first error
  // does not hide the others.
  explicit CheckLog(bool goes_on = false) : goes_on_(goes_on) {}

  // Runs a check and returns its status: its own error or, if `goes_on`, all
  // errors joined. Exceptions of the check propagate.
  absl::Status Run(const std::function<absl::Status()>& check);

  // The largest error of each name over all checks: {"gradient_error", 0.12}.
  const std::map<std::string, double>& errors() const { return errors_; }
  const std::map<std::string, std::string>& words() const { return words_; }

 private:
  friend absl::Status CheckError(absl::string_view, double, double,
                                 absl::string_view);
  friend void AddToCheckLog(absl::string_view, absl::string_view);

  // Returns whether `error` is the largest of this name so far.
  bool Keep(const std::string& name, double error);

  const bool goes_on_;
  std::map<std::string, double> errors_;
  std::map<std::string, std::string> words_;
  std::map<std::string, std::string> wrong_;  // failures of this check, by name
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_CHECK_LOG_H_
