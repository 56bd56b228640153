// SPDX-License-Identifier: MIT
// Progress on the error stream: the running case and the time left.

#ifndef TRAINBENCH_REPORTS_LIVE_PROGRESS_H_
#define TRAINBENCH_REPORTS_LIVE_PROGRESS_H_

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace trainbench {

// Rewrites one line on a terminal, else prints one line per case. Not
// thread-safe.
class Progress {
 public:
  // `weights`: the expected cost of each planned run, in any unit, in the order
  // of the Begin() calls. `seconds` is a monotonic clock.
  Progress(std::ostream& err, bool is_terminal, int terminal_width,
           std::vector<double> weights, std::function<double()> seconds);
  ~Progress();

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Begin(const std::string& name);
  // The stage of the case: "build", "check", "warm-up", "sampling", "memory".
  void Stage(const std::string& text);
  // Ends the case and clears the line, so that the row can be printed.
  void End();
  // Erases the line; the next Begin() or Stage() brings it back.
  void Clear();

 private:
  void Show(const std::string& stage);
  std::string Line(const std::string& stage) const;
  double SecondsLeft(double now) const;

  std::ostream& err_;
  const bool is_terminal_;
  const size_t columns_;
  const std::vector<double> weights_;
  const std::function<double()> seconds_;
  const double start_;
  double begin_ = 0;    // When the current case began.
  size_t started_ = 0;  // How many cases have begun.
  std::string name_;    // Empty between cases.
  bool visible_ = false;
};

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_PROGRESS_H_
