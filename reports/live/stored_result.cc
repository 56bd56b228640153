// SPDX-License-Identifier: MIT

#include "reports/live/stored_result.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "fixtures/base/read_file.h"
#include "reports/live/row_flaw.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

// Far more than any run writes, and little beside what a run itself takes.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

// Indented like Google Benchmark's own entries.
std::string RowText(const Json& entry) {
  return absl::StrReplaceAll(entry.dump(2), {{"\n", "\n    "}});
}

StoredEntry Row(const Json& entry, bool is_timed) {
  StoredEntry row{.case_name = entry.at("run_name"),
                  .json = RowText(entry),
                  .flaw = RowFlaw(entry, is_timed)};
  if (entry.at("run_type") != "iteration") return row;
  for (const auto& [key, value] : entry.items()) {
    if (value.is_number()) row.counters[key] = value.get<double>();
  }
  return row;
}

StoredEntry Failure(const Json& entry) {
  return {.case_name = entry.at("name"), .json = entry.dump()};
}

// Lists of objects with a "case". Other lists, such as "expectations", are of
// no case.
std::map<std::string, std::vector<StoredEntry>> Tables(const Json& json) {
  std::map<std::string, std::vector<StoredEntry>> tables;
  for (const auto& [list, entries] : json.items()) {
    if (!entries.is_array()) continue;
    for (const Json& entry : entries) {
      if (!entry.is_object() || !entry.contains("case")) continue;
      tables[list].push_back(
          {.case_name = entry.at("case"), .json = entry.dump()});
    }
  }
  return tables;
}

StoredResult Parse(const Json& json) {
  StoredResult result;
  for (const auto& [key, value] : json.at("context").items()) {
    if (value.is_string()) result.context[key] = value;
  }
  const bool is_timed =
      json.at("context").value("device_kind", "") != "null_cuda";
  for (const Json& entry : json.at("benchmarks")) {
    result.benchmarks.push_back(Row(entry, is_timed));
  }
  for (const Json& entry : json.at("skipped")) {
    result.skipped.push_back(Failure(entry));
  }
  for (const Json& entry : json.at("errors")) {
    result.errors.push_back(Failure(entry));
  }
  result.tables = Tables(json);
  return result;
}

}  // namespace

absl::StatusOr<StoredResult> ReadStoredResult(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMostBytes);
  if (!text.ok()) {
    return absl::InvalidArgumentError(text.status().message());
  }
  try {
    return Parse(Json::parse(*text));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("it is no result of trainbench: ", error.what()));
  }
}

}  // namespace trainbench
