// SPDX-License-Identifier: MIT

#include "reports/live/row_flaw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "fixtures/base/counter_table.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLongestUs = 1e15;  // as reports/results/checked_entry.py
constexpr double kMostAmount = 1e18;

// Whether a row has such a value there (reports/results/checked_entry.py).
bool IsOfType(const std::string& key, const Json& value) {
  static const std::set<absl::string_view> texts = {
      "name",  "run_name",       "run_type",
      "label", "aggregate_name", "aggregate_unit"};
  if (key == "time_unit") return value == "us";
  if (texts.contains(key)) return value.is_string();
  const bool is_object = key == "parameters" || key == "findings";
  return is_object ? value.is_object() : value.is_number();
}

std::string Wrong(absl::string_view key, double value,
                  const absl::AlphaNum& allowed) {
  return absl::StrCat(key, " is ", value, "; allowed: ", allowed);
}

std::string FlawInTypes(const Json& row) {
  constexpr std::size_t kMostLetters = 60;
  for (const auto& [key, value] : row.items()) {
    if (IsOfType(key, value)) continue;
    return absl::StrCat(key, " is ", value.dump().substr(0, kMostLetters));
  }
  return "";
}

std::string FlawInAmounts(const Json& row) {
  for (const auto& [key, value] : row.items()) {
    const CounterSpec* counter = FindCounter(key);
    const bool is_amount = counter != nullptr && counter->is_amount();
    if (is_amount && !(value >= 0 && value <= kMostAmount)) {
      return Wrong(key, value, absl::StrCat("0 to ", kMostAmount));
    }
  }
  return "";
}

// But for the rounding of text. NaN is equal to nothing.
bool AreEqual(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

std::string FlawInTimes(const Json& row) {
  const auto get = [&](const char* key) {
    return row.value(key, std::numeric_limits<double>::quiet_NaN());
  };
  const double us = get("real_time"), median = get("p50_us");
  if (!(us > 0 && us <= kLongestUs)) {
    return Wrong("real_time", us,
                 absl::StrCat("more than 0, up to ", kLongestUs));
  }
  if (!AreEqual(us, median)) {
    return Wrong("real_time", us, absl::StrCat("p50_us, ", median));
  }
  const double least = get("min_us"), most = get("max_us");
  if (!(least <= median && median <= most)) {
    return Wrong("p50_us", median,
                 absl::StrCat("min_us to max_us, ", least, " to ", most));
  }
  for (const char* amount : {"bytes", "flops"}) {
    const std::string rate = absl::StrCat(amount, "_per_second");
    const double expected = get(amount) / (us * 1e-6);
    if (row.contains(rate) && !AreEqual(row[rate], expected)) {
      return Wrong(rate, row[rate],
                   absl::StrCat(amount, " over p50_us, ", expected));
    }
  }
  return "";
}

}  // namespace

std::string RowFlaw(const Json& row, bool is_timed) {
  std::string flaw = FlawInTypes(row);
  if (!flaw.empty() || row.at("run_type") != "iteration") return flaw;
  flaw = FlawInAmounts(row);
  if (!flaw.empty()) return flaw;
  if (is_timed) return FlawInTimes(row);
  const double us = row.at("real_time");
  return us == 0 ? "" : Wrong("real_time", us, "0 on a null GPU");
}

}  // namespace trainbench
