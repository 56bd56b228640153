// SPDX-License-Identifier: MIT
// The default console: an aligned table whose rows appear as they are measured.

#ifndef TRAINBENCH_REPORTS_LIVE_TABLE_REPORTER_H_
#define TRAINBENCH_REPORTS_LIVE_TABLE_REPORTER_H_

#include <benchmark/benchmark.h>

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/live/row_status.h"

namespace trainbench {

struct TableOptions {
  // Printed first, as "device: ...  threads: ...", wrapped at 120 columns.
  std::vector<std::pair<std::string, std::string>> header;
  // Length of the longest published name; with repetitions plus 7, for
  // "_stddev". Google Benchmark's own width counts the suffixes that
  // PublishedRun removes.
  size_t name_width = 40;
  // Print a case of several repetitions as one line, that of the median one;
  // its interval has all of them. Without the aggregates.
  bool is_one_line = false;
  // Colours are used on a terminal, unless NO_COLOR is set (no-color.org).
  bool is_terminal = false;
};

class TableReporter : public benchmark::BenchmarkReporter {
 public:
  TableReporter(TableOptions options, StatusLookup lookup);

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  void PrintHeadings();
  void PrintMedian(const std::vector<Run>& runs);
  void PrintRun(const Run& published, bool is_shown);
  std::string FailureLine(const Run& published, const RowStatus& status) const;

  const TableOptions options_;
  const bool use_color_;
  const StatusLookup lookup_;
  RowCounts counts_;  // of the rows that are printed
  std::set<std::string> details_;
  bool printed_headings_ = false;
};

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_TABLE_REPORTER_H_
