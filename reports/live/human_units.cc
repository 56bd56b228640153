// SPDX-License-Identifier: MIT

#include "reports/live/human_units.h"

#include <array>
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

// `digits` with a comma before every third digit from `end`.
std::string WithCommas(std::string digits, size_t end) {
  while (end > 3) {
    end -= 3;
    digits.insert(end, 1, ',');
  }
  return digits;
}

// "3517.6", "89.4", "1.50".
std::string FewDigits(double value) {
  if (value >= 1e6) return absl::StrFormat("%.4g", value);
  return absl::StrFormat("%.*f", value < 10 ? 2 : 1, value);
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

std::string WithThousands(int64_t value) {
  const std::string digits = absl::StrCat(value);
  return WithCommas(digits, digits.size());
}

std::string HumanCount(double value) {
  if (value >= 1e13 || (value > 0 && value < 0.05)) {
    return absl::StrFormat("%.4g", value);
  }
  const bool whole = value == std::floor(value) || value >= 1e6;
  const std::string digits = absl::StrFormat("%.*f", whole ? 0 : 1, value);
  return WithCommas(digits, digits.size() - (whole ? 0 : 2));
}

std::string HumanBytesInBothUnits(double bytes) {
  constexpr std::array<absl::string_view, 5> kPrefixes = {"", "k", "M", "G",
                                                          "T"};
  constexpr std::array<absl::string_view, 5> kBinary = {"", "Ki", "Mi", "Gi",
                                                        "Ti"};
  int power = 0;
  // At most 999 of a unit, but 9999 GB, since device memory is counted in GB.
  while (power < 4 &&
         bytes / std::pow(1000, power) >= (power < 3 ? 999.5 : 9999.5)) {
    ++power;
  }
  if (power == 0) return absl::StrCat(HumanCount(bytes), " B");
  return absl::StrCat(FewDigits(bytes / std::pow(1000, power)), " ",
                      kPrefixes[power],
                      "B = ", FewDigits(bytes / std::pow(1024, power)), " ",
                      kBinary[power], "B");
}

std::string HumanPercent(double fraction) {
  if (!std::isfinite(fraction)) return "-";
  const double percent = fraction * 100;
  return std::abs(percent) < 9.95 ? absl::StrFormat("%.1f %%", percent)
                                  : absl::StrFormat("%.0f %%", percent);
}

}  // namespace trainbench
