// SPDX-License-Identifier: MIT

#include "reports/live/human_units.h"

#include <cmath>
#include <cstddef>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace trainbench {
namespace {

// Each limit is where rounding reaches the next power of ten, so that 9.996
// reads "10.0" and not "10.00".
std::string ThreeDigits(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 9.995) return absl::StrFormat("%.2f", value);
  if (size < 99.95) return absl::StrFormat("%.1f", value);
  return absl::StrFormat("%.0f", value);
}

// Divides by `base` until the number that will be printed is below `base`: the
// 0.5 is for 999.6, which prints as 1000.
std::string Scaled(double value, double base,
                   std::span<const absl::string_view> prefixes,
                   absl::string_view unit) {
  if (!std::isfinite(value)) return "-";
  size_t i = 0;
  while (std::abs(value) >= base - 0.5 && i + 1 < prefixes.size()) {
    value /= base;
    ++i;
  }
  const bool whole = i == 0 && value == std::round(value);
  return absl::StrCat(
      whole ? absl::StrFormat("%.0f", value) : ThreeDigits(value), " ",
      prefixes[i], unit);
}

}  // namespace

std::string HumanTime(double microseconds) {
  static constexpr absl::string_view kUnits[] = {"ns", "us", "ms", "s"};
  return Scaled(microseconds * 1e3, 1000, kUnits, "");
}

std::string HumanBytes(double bytes) {
  static constexpr absl::string_view kPrefixes[] = {"",   "Ki", "Mi",
                                                    "Gi", "Ti", "Pi"};
  return Scaled(bytes, 1024, kPrefixes, "B");
}

std::string HumanRate(double per_second, absl::string_view unit) {
  static constexpr absl::string_view kPrefixes[] = {"",  "k", "M", "G",
                                                    "T", "P", "E"};
  return Scaled(per_second, 1000, kPrefixes, unit);
}

std::string HumanPercent(double fraction) {
  if (!std::isfinite(fraction)) return "-";
  const double percent = fraction * 100;
  return std::abs(percent) < 9.95 ? absl::StrFormat("%.1f %%", percent)
                                  : absl::StrFormat("%.0f %%", percent);
}

}  // namespace trainbench
