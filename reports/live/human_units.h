// SPDX-License-Identifier: MIT
// Numbers as a person reads them. Times, bytes, rates and percentages: three
// significant digits and a unit; "-" if not finite. Counts: all digits.

#ifndef TRAINBENCH_REPORTS_LIVE_HUMAN_UNITS_H_
#define TRAINBENCH_REPORTS_LIVE_HUMAN_UNITS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace trainbench {

// "845 ns", "12.3 us", "1.00 ms", "2.31 s".
std::string HumanTime(double microseconds);

// Powers of 1024: "512 B", "1.50 KiB", "1020 MiB", "2.25 GiB".
std::string HumanBytes(double bytes);

// Powers of 1000: HumanRate(1.42e11, "FLOP/s") is "142 GFLOP/s".
std::string HumanRate(double per_second, absl::string_view unit);

// "1,998,235,200".
std::string WithThousands(int64_t value);

// "44", "20,444.4", "219,848,638,464". Fractions show one decimal below 10^6;
// four significant digits from 10^13 and below 0.05. Finite, not negative.
std::string HumanCount(double value);

// In units of 1000 and of 1024, each of the same power, up to TB:
// "3517.6 GB = 3276.0 GiB". Below 1000 bytes "512 B".
std::string HumanBytesInBothUnits(double bytes);

// HumanPercent(0.0123) is "1.2 %", HumanPercent(0.41) is "41 %".
std::string HumanPercent(double fraction);

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_HUMAN_UNITS_H_
