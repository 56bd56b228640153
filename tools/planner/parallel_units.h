// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_TOOLS_PLANNER_PARALLEL_UNITS_H_
#define TRAINBENCH_TOOLS_PLANNER_PARALLEL_UNITS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "tools/planner/parallel_rows.h"

namespace trainbench {

// "20,444.4", "219,848,638,464", "0.5", "1.235e+18": whole numbers in full, one
// decimal for others up to a million, four digits where that says nothing.
std::string HumanCount(double value);

// In units of 1000 and of 1024: "3517.6 GB = 3276.0 GiB".
std::string BytesInBothUnits(double bytes);

// "180 GB/s", of 10^9 bytes.
std::string Rate(double bytes_per_second);

// A value of a row, with its unit.
std::string HumanValue(double value, ParallelUnit unit);

// "b = 2, C = 460 TFLOP/s, W = 180 GB/s".
std::string MachineText(const ShardedJob& job);

// "bytes", "seconds", ...; "" for kNone.
absl::string_view UnitName(ParallelUnit unit);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_PARALLEL_UNITS_H_
