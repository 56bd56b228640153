// SPDX-License-Identifier: MIT
// Reads a result file back, to continue its run.

#ifndef TRAINBENCH_REPORTS_LIVE_STORED_RESULT_H_
#define TRAINBENCH_REPORTS_LIVE_STORED_RESULT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainbench {

// An entry of one of a result's lists.
struct StoredEntry {
  std::string case_name = {};
  std::string json = {};
  // Of a measured repetition: its numbers. Empty for an aggregate or a row
  // without a number.
  std::map<std::string, double> counters = {};
  std::string flaw = {};  // of a row that cannot be true (row_flaw.h)
  bool is_repetition() const { return !counters.empty(); }
};

struct StoredResult {
  // Values that are texts, like all that the program adds.
  std::map<std::string, std::string> context;
  std::vector<StoredEntry> benchmarks;
  std::vector<StoredEntry> skipped;
  std::vector<StoredEntry> errors;
  // The other lists, whose entries name their case.
  std::map<std::string, std::vector<StoredEntry>> tables = {};
};

// InvalidArgument, in one line without the path, if the file cannot be read or
// is no result.
absl::StatusOr<StoredResult> ReadStoredResult(const std::string& path);

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_STORED_RESULT_H_
