// SPDX-License-Identifier: MIT
// Counts rows for the exit status, with any display reporter.

#ifndef TRAINBENCH_REPORTS_LIVE_ROW_COUNTER_H_
#define TRAINBENCH_REPORTS_LIVE_ROW_COUNTER_H_

#include <benchmark/benchmark.h>

#include <vector>

#include "reports/live/row_status.h"

namespace trainbench {

// A decorator that passes published copies of the rows to `wrapped`. Marks
// every row that is not good as failed, for Google Benchmark's own reporters.
class RowCounter : public benchmark::BenchmarkReporter {
 public:
  // `wrapped` must outlive this object, which takes over its streams, because
  // Google Benchmark prints its own messages to the display reporter's streams.
  RowCounter(benchmark::BenchmarkReporter& wrapped, StatusLookup lookup);

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

  const RowCounts& counts() const { return counts_; }

 private:
  benchmark::BenchmarkReporter& wrapped_;
  const StatusLookup lookup_;
  RowCounts counts_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_ROW_COUNTER_H_
