// SPDX-License-Identifier: MIT
// How far the results of a case are from its references.

#ifndef TRAINBENCH_MODEL_SPEC_CHECK_LOG_H_
#define TRAINBENCH_MODEL_SPEC_CHECK_LOG_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trainbench {

// FailedPrecondition, e.g. "gradient_error 0.12 > 0.1 in parameter 3", unless
// `error` is at most what is allowed; NaN is not. Tells the CheckLog that runs
// the check on this thread, if one does.
absl::Status CheckError(absl::string_view name, double error, double allowed,
                        absl::string_view where = "");

// Tells that CheckLog in words what a check could not find out.
void TellCheckLog(absl::string_view word, absl::string_view text);

// What the checks of a case measured. One thread's.
class CheckLog {
 public:
  // If a check goes on, CheckError returns OK in it, so that the first error
  // does not hide the others.
  explicit CheckLog(bool goes_on = false) : goes_on_(goes_on) {}

  // Makes a check and returns what is wrong: its own error, or if it went on,
  // all of them. Rethrows what it throws.
  absl::Status Run(const std::function<absl::Status()>& check);

  // The largest error of each name, of all checks: {"gradient_error", 0.12}.
  const std::map<std::string, double>& errors() const { return errors_; }
  const std::map<std::string, std::string>& words() const { return words_; }

 private:
  friend absl::Status CheckError(absl::string_view, double, double,
                                 absl::string_view);
  friend void TellCheckLog(absl::string_view, absl::string_view);

  // Whether it is the largest of its name so far.
  bool Keep(const std::string& name, double error);

  const bool goes_on_;
  std::map<std::string, double> errors_;
  std::map<std::string, std::string> words_;
  std::map<std::string, std::string> wrong_;  // in this check, by name
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_CHECK_LOG_H_
