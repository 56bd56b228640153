// SPDX-License-Identifier: MIT
// Numbers as a person reads them: three significant digits and a unit. What is
// not finite reads "-".

#ifndef TRAINBENCH_REPORTS_LIVE_HUMAN_UNITS_H_
#define TRAINBENCH_REPORTS_LIVE_HUMAN_UNITS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace trainbench {

// "845 ns", "12.3 us", "1.00 ms", "2.31 s".
std::string HumanTime(double microseconds);

// Powers of 1024: "512 B", "1.50 KiB", "1020 MiB", "2.25 GiB".
std::string HumanBytes(double bytes);

// Powers of 1000: HumanRate(1.42e11, "FLOP/s") is "142 GFLOP/s".
std::string HumanRate(double per_second, absl::string_view unit);

// HumanPercent(0.0123) is "1.2 %", HumanPercent(0.41) is "41 %".
std::string HumanPercent(double fraction);

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_HUMAN_UNITS_H_
