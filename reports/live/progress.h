// SPDX-License-Identifier: MIT
// Says on the error stream which case is running and how long the rest will
// take.

#ifndef TRAINBENCH_REPORTS_LIVE_PROGRESS_H_
#define TRAINBENCH_REPORTS_LIVE_PROGRESS_H_

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace trainbench {

// On a terminal one line that is rewritten, else one line for each case. Not
// thread-safe.
class Progress {
 public:
  // `weights`: the expected cost of each planned run, in any one unit, in the
  // order of the calls of Begin(). `seconds` is a clock that never goes back.
  Progress(std::ostream& err, bool is_terminal, int terminal_width,
           std::vector<double> weights, std::function<double()> seconds);
  ~Progress();

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Begin(const std::string& name);
  // What the case is doing: "build", "check", "warm-up", "sampling", "memory".
  void Stage(const std::string& text);
  // Clears too, so that the row of the case can be printed.
  void End();
  // Takes the line off the terminal; the next Begin() or Stage() brings it
  // back.
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
