// SPDX-License-Identifier: MIT
// For reporters that need every row before they print the first.

#ifndef TRAINBENCH_REPORTS_LIVE_DEFERRED_REPORTER_H_
#define TRAINBENCH_REPORTS_LIVE_DEFERRED_REPORTER_H_

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

namespace trainbench {

// A decorator that passes all rows on at once, at the end. Google Benchmark's
// CSV reporter takes its columns from the first rows, and aborts if a later row
// has another counter.
class DeferredReporter : public benchmark::BenchmarkReporter {
 public:
  explicit DeferredReporter(
      std::unique_ptr<benchmark::BenchmarkReporter> wrapped);

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  const std::unique_ptr<benchmark::BenchmarkReporter> wrapped_;
  std::vector<Run> runs_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_DEFERRED_REPORTER_H_
