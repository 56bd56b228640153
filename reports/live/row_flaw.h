// SPDX-License-Identifier: MIT
// Finds what cannot be true in a row of a result, which somebody may have
// edited.

#ifndef TRAINBENCH_REPORTS_LIVE_ROW_FLAW_H_
#define TRAINBENCH_REPORTS_LIVE_ROW_FLAW_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace trainbench {

// The first flaw, e.g. "real_time is -5; allowed: more than 0, up to 1e+15", or
// "". A value of another type than each reader takes; of a repetition also an
// amount that is negative, a time that is none or is not the median, and a rate
// that is not its amount over the time. If the device is not timed, the time is
// 0.
std::string RowFlaw(const nlohmann::ordered_json& row, bool is_timed);

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_ROW_FLAW_H_
