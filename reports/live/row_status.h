// SPDX-License-Identifier: MIT
// The outcome of a case. Google Benchmark 1.7.1 knows only "errored", so the
// runner records whether a case was skipped or failed, and reporters look it up
// by name.

#ifndef TRAINBENCH_REPORTS_LIVE_ROW_STATUS_H_
#define TRAINBENCH_REPORTS_LIVE_ROW_STATUS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace trainbench {

struct RowStatus {
  enum class Kind { kGood, kSkipped, kError };
  Kind kind = Kind::kGood;
  std::string reason;
  std::optional<int64_t> predicted_peak_bytes;
  // False on a null GPU, whose good rows have a time of 0.
  bool is_timed = true;
  // A good row that the table leaves to the result file.
  bool is_detail = false;
  // What the case has beside its row: JSON objects, by the list of the result
  // that holds them.
  std::map<std::string, std::string> tables = {};
};

// Looks up a published name, such as
// "model_size/tiny/fp32/forward/batch:4/seq:128".
using StatusLookup = std::function<RowStatus(const std::string& case_name)>;

// Counts rows by kind. Aggregates do not count, except under
// --benchmark_display_aggregates_only, where a reporter sees no other rows:
// then the aggregates of a case count as one row.
class RowCounts {
 public:
  // Returns whether the run was counted.
  bool Add(const std::string& case_name, bool is_aggregate,
           RowStatus::Kind kind) {
    const bool is_new_case = cases_.insert(case_name).second;
    if (is_aggregate && !is_new_case) return false;
    if (kind == RowStatus::Kind::kGood) ++good_;
    if (kind == RowStatus::Kind::kSkipped) ++skipped_;
    if (kind == RowStatus::Kind::kError) ++errors_;
    return true;
  }

  int good() const { return good_; }
  int skipped() const { return skipped_; }
  int errors() const { return errors_; }
  int rows() const { return good_ + skipped_ + errors_; }
  int cases() const { return static_cast<int>(cases_.size()); }

 private:
  int good_ = 0;
  int skipped_ = 0;
  int errors_ = 0;
  std::set<std::string> cases_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_ROW_STATUS_H_
