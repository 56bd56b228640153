// SPDX-License-Identifier: MIT

#include "reports/live/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace trainbench {
namespace {

constexpr char kEraseToEnd[] = "\033[K";
constexpr int kDefaultColumns = 80;

std::vector<double> Sane(std::vector<double> weights) {
  for (double& weight : weights) {
    if (!std::isfinite(weight) || weight < 0) weight = 0;
  }
  return weights;
}

// Sum of weights [first, last). Both may be past the end.
double Sum(const std::vector<double>& weights, size_t first, size_t last) {
  double sum = 0;
  for (size_t i = first; i < std::min(last, weights.size()); ++i) {
    sum += weights[i];
  }
  return sum;
}

std::string MinutesSeconds(double seconds) {
  const auto total = static_cast<int64_t>(std::llround(std::max(0.0, seconds)));
  if (total < 3600) return absl::StrFormat("%d:%02d", total / 60, total % 60);
  return absl::StrFormat("%d:%02d:%02d", total / 3600, total / 60 % 60,
                         total % 60);
}

// Cuts between characters, never inside one.
std::string Truncated(std::string text, size_t columns) {
  if (text.size() <= columns) return text;
  size_t end = columns;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  text.resize(end);
  return text;
}

}  // namespace

Progress::Progress(std::ostream& err, bool is_terminal, int terminal_width,
                   std::vector<double> weights, std::function<double()> seconds)
    : err_(err),
      is_terminal_(is_terminal),
      // One less: a line that fills the last column wraps on some terminals.
      columns_(static_cast<size_t>(
          (terminal_width > 1 ? terminal_width : kDefaultColumns) - 1)),
      weights_(Sane(std::move(weights))),
      seconds_(std::move(seconds)),
      start_(seconds_()) {}

Progress::~Progress() { Clear(); }

void Progress::Begin(const std::string& name) {
  name_ = name;
  ++started_;
  begin_ = seconds_();
  if (is_terminal_) {
    Show("");
  } else {
    err_ << Line("") << std::endl;
  }
}

void Progress::Stage(const std::string& text) {
  if (is_terminal_ && !name_.empty()) Show(text);
}

void Progress::End() {
  Clear();
  name_.clear();
}

void Progress::Clear() {
  if (!std::exchange(visible_, false)) return;
  err_ << "\r" << kEraseToEnd << std::flush;
}

void Progress::Show(const std::string& stage) {
  err_ << "\r" << Truncated(Line(stage), columns_) << kEraseToEnd << std::flush;
  visible_ = true;
}

std::string Progress::Line(const std::string& stage) const {
  const double now = seconds_();
  std::string line =
      absl::StrCat("[", started_, "/", std::max(started_, weights_.size()),
                   "] ", MinutesSeconds(now - start_), " elapsed");
  const double left = SecondsLeft(now);
  if (std::isfinite(left)) {
    absl::StrAppend(&line, ", about ", MinutesSeconds(left), " left");
  }
  absl::StrAppend(&line, "  ", name_);
  if (!stage.empty()) absl::StrAppend(&line, "  ", stage);
  return line;
}

// Estimates the seconds per unit of weight from the finished cases. NaN before
// the first has finished.
double Progress::SecondsLeft(double now) const {
  const size_t current = started_ - 1;
  const double done = Sum(weights_, 0, current);
  if (done <= 0) return std::numeric_limits<double>::quiet_NaN();
  const double rate = (begin_ - start_) / done;
  const double of_current = rate * Sum(weights_, current, started_);
  const double after = rate * Sum(weights_, started_, weights_.size());
  return after + std::max(0.0, of_current - (now - begin_));
}

}  // namespace trainbench
