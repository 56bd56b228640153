// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_PLANNER_JSON_H_
#define TRAINBENCH_TOOLS_PLANNER_JSON_H_

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/string_view.h"

namespace trainbench {

using Json = nlohmann::ordered_json;

inline std::string Text(absl::string_view text) {
  return {text.data(), text.size()};
}

// Makes a whole number below 2^53 an integer, which prints without ".0".
inline Json WholeNumber(double value) {
  if (value == std::floor(value) && value < 0x1p53) {
    return static_cast<int64_t>(value);
  }
  return value;
}

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_JSON_H_
