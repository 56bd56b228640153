// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_PLANNER_JSON_H_
#define TRAINBENCH_TOOLS_PLANNER_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/string_view.h"

namespace trainbench {

using Json = nlohmann::ordered_json;

inline std::string Text(absl::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_JSON_H_
