// SPDX-License-Identifier: MIT

#include "tools/planner/parallel_units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "reports/live/human_units.h"

namespace trainbench {
namespace {

std::string WithThousands(std::string digits) {
  const size_t point = std::min(digits.find('.'), digits.size());
  for (size_t end = point; end > 3;) {
    end -= 3;
    digits.insert(end, 1, ',');
  }
  return digits;
}

// "3517.6", "89.4", "1.50".
std::string Digits(double value) {
  if (value >= 1e6) return absl::StrFormat("%.4g", value);
  return absl::StrFormat("%.*f", value < 10 ? 2 : 1, value);
}

// Of two units of the same power, so that they can be compared.
std::string Scaled(double bytes, double base, int power,
                   absl::string_view unit) {
  return absl::StrCat(Digits(bytes / std::pow(base, power)), " ", unit);
}

}  // namespace

std::string HumanCount(double value) {
  if (value >= 1e13 || (value > 0 && value < 0.05)) {
    return absl::StrFormat("%.4g", value);
  }
  const bool whole = value == std::floor(value) || value >= 1e6;
  return WithThousands(absl::StrFormat("%.*f", whole ? 0 : 1, value));
}

std::string BytesInBothUnits(double bytes) {
  constexpr std::array<absl::string_view, 5> kDecimal = {"B", "kB", "MB", "GB",
                                                         "TB"};
  constexpr std::array<absl::string_view, 5> kBinary = {"B", "KiB", "MiB",
                                                        "GiB", "TiB"};
  int power = 0;
  // Up to 10,000, as devices are counted in GB.
  while (power < 4 && bytes / std::pow(1000, power) >= 9999.5) ++power;
  // But not 1234 kB.
  while (power < 3 && bytes / std::pow(1000, power) >= 999.5) ++power;
  if (power == 0) return absl::StrCat(HumanCount(bytes), " B");
  return absl::StrCat(Scaled(bytes, 1000, power, kDecimal[power]), " = ",
                      Scaled(bytes, 1024, power, kBinary[power]));
}

std::string Rate(double bytes_per_second) {
  return absl::StrCat(HumanCount(bytes_per_second / 1e9), " GB/s");
}

std::string MachineText(const ShardedJob& job) {
  return absl::StrCat("b = ", job.value_bytes,
                      ", C = ", HumanCount(job.flops_per_second / 1e12),
                      " TFLOP/s, W = ", Rate(job.link_bytes_per_second));
}

absl::string_view UnitName(ParallelUnit unit) {
  switch (unit) {
    case ParallelUnit::kParams:
      return "params";
    case ParallelUnit::kBytes:
      return "bytes";
    case ParallelUnit::kSeconds:
      return "seconds";
    case ParallelUnit::kDevices:
      return "devices";
    case ParallelUnit::kTokens:
      return "tokens";
    case ParallelUnit::kNone:
      break;
  }
  return "";
}

std::string HumanValue(double value, ParallelUnit unit) {
  if (unit == ParallelUnit::kBytes) return BytesInBothUnits(value);
  if (unit == ParallelUnit::kSeconds) return HumanTime(value * 1e6);
  const absl::string_view name = UnitName(unit);
  return absl::StrCat(HumanCount(value), name.empty() ? "" : " ", name);
}

}  // namespace trainbench
