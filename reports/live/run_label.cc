// SPDX-License-Identifier: MIT

#include "reports/live/run_label.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace trainbench {
namespace {

using nlohmann::ordered_json;

}  // namespace

RunLabel ReadLabel(const std::string& label) {
  const ordered_json json =
      ordered_json::parse(label, nullptr, /*allow_exceptions=*/false);
  RunLabel read;
  if (!json.is_object() || !json.contains("parameters") ||
      !json.contains("findings")) {
    read.text = label;
    return read;
  }
  read.parameters = json.at("parameters").dump();
  read.findings = json.at("findings").get<decltype(read.findings)>();
  return read;
}

std::string FindingsObject(const RunLabel& label) {
  ordered_json object = ordered_json::object();
  for (const auto& [key, value] : label.findings) {
    const std::string before =
        object.contains(key) ? object[key].get<std::string>() + " + " : "";
    object[key] = before + value;
  }
  return object.dump();
}

std::string LabelText(const RunLabel& label) {
  if (label.parameters.empty()) return label.text;
  std::vector<std::string> words;
  const ordered_json parameters = ordered_json::parse(label.parameters);
  for (const auto& [key, value] : parameters.items()) {
    words.push_back(absl::StrCat(
        key, "=", value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return absl::StrCat(
      absl::StrJoin(words, " "), label.findings.empty() ? "" : " | ",
      absl::StrJoin(label.findings, ", ", absl::PairFormatter("=")));
}

}  // namespace trainbench
