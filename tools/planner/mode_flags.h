// SPDX-License-Identifier: MIT
// The flags of a program that answers one of two questions. Each flag is
// declared once: the question that it belongs to, name, variable, range, help.

#ifndef TRAINBENCH_TOOLS_PLANNER_MODE_FLAGS_H_
#define TRAINBENCH_TOOLS_PLANNER_MODE_FLAGS_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/marshalling.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "fixtures/base/flag_parser.h"
#include "model/spec/not_allowed.h"

namespace trainbench {

// What reads a flag: tools/plan alone, with --parallel, or either.
enum class Mode { kModels, kParallel, kEither };

// For whole numbers and others; an error for NaN too.
template <typename T>
absl::Status CheckRange(const std::string& what, T value, Range range) {
  if (range.Has(static_cast<double>(value))) return absl::OkStatus();
  return NotAllowed(what, value,
                    absl::StrCat(static_cast<T>(range.least), " to ",
                                 static_cast<T>(range.most)));
}

// Adds flags to a parser. The parser checks a value's type; what depends on the
// mode is checked here, after Parse.
class ModeFlags {
 public:
  // `parser` must outlive this, as variables do.
  explicit ModeFlags(FlagParser& parser) : parser_(parser) {}

  template <typename T>
  void Add(Mode mode, const std::string& name, T& value,
           const std::string& help) {
    parser_.Add(name, value,
                mode == Mode::kParallel ? "With --parallel: " + help : help);
    flags_[name] = {mode, [&value, standard = absl::UnparseFlag(value)] {
                      return absl::UnparseFlag(value) == standard;
                    }};
  }

  // A number with an inclusive range, which counts if the mode reads the flag.
  template <typename T>
  void Add(Mode mode, const std::string& name, T& value, Range range,
           const std::string& help) {
    Add(mode, name, value, help);
    numbers_.push_back(
        {mode, name,
         [name, &value, range] { return CheckRange(name, value, range); },
         [&value] { return static_cast<double>(value); }});
  }

  // Any number of values; read without --parallel.
  void AddRepeated(const std::string& name, FlagParser::Setter set,
                   const std::string& help);

  // InvalidArgument names the first flag that was changed but that `mode` does
  // not read.
  absl::Status CheckMode(Mode mode) const;

  // InvalidArgument names the first number of `mode` that is out of its range.
  absl::Status CheckRanges(Mode mode) const;

  // The numbers of `mode` alone that have a range, in the order of their
  // declaration.
  std::vector<std::pair<std::string, double>> Numbers(Mode mode) const;

 private:
  struct Flag {
    Mode mode;
    std::function<bool()> is_default;
  };
  struct Number {
    Mode mode;
    std::string name;
    std::function<absl::Status()> check;
    std::function<double()> value;
  };

  FlagParser& parser_;
  std::map<std::string, Flag> flags_;
  std::vector<Number> numbers_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_MODE_FLAGS_H_
