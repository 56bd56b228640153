// SPDX-License-Identifier: MIT

#include "tools/planner/mode_flags.h"

namespace trainbench {

void ModeFlags::AddRepeated(const std::string& name, FlagParser::Setter set,
                            const std::string& help) {
  parser_.AddRepeated(name, std::move(set), help);
  flags_[name] = {Mode::kModels, [] { return false; }};
}

absl::Status ModeFlags::CheckMode(Mode mode) const {
  for (const auto& [name, values] : parser_.given()) {
    const Flag& flag = flags_.at(name);
    if (flag.mode == Mode::kEither || flag.mode == mode || flag.is_default()) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "flag '--", name, "' is '", values.front(), "'; allowed: only ",
        mode == Mode::kParallel ? "without" : "with", " --parallel"));
  }
  return absl::OkStatus();
}

absl::Status ModeFlags::CheckRanges(Mode mode) const {
  for (const Number& number : numbers_) {
    if (number.mode != mode) continue;
    if (absl::Status status = number.check(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<std::pair<std::string, double>> ModeFlags::Numbers(
    Mode mode) const {
  std::vector<std::pair<std::string, double>> numbers;
  for (const Number& number : numbers_) {
    if (number.mode == mode) numbers.emplace_back(number.name, number.value());
  }
  return numbers;
}

}  // namespace trainbench
