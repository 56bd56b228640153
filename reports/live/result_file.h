// SPDX-License-Identifier: MIT
// The JSON result. At every moment after ReportContext the file is a complete
// Google Benchmark document: whatever ends the process, SIGKILL included, loses
// at most the case that was running.

#ifndef TRAINBENCH_REPORTS_LIVE_RESULT_FILE_H_
#define TRAINBENCH_REPORTS_LIVE_RESULT_FILE_H_

#include <benchmark/benchmark.h>

#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "fixtures/base/file.h"
#include "reports/live/row_status.h"

namespace trainbench {

// "benchmarks" holds good rows only; "skipped" and "errors" say what is missing
// and why, and "complete" whether the run reached its end. No reader, stock
// compare.py included, can then take a missing number for a fast one.
class ResultFile : public benchmark::JSONReporter {
 public:
  // With an empty `path` the document is printed once, at Finalize, to the
  // output stream that was set before ReportContext. `err` gets one line when
  // writing starts to fail; it is not GetErrorStream() because Google Benchmark
  // points a file reporter's error stream at --benchmark_out.
  ResultFile(std::string path, StatusLookup lookup,
             std::ostream* err = &std::cerr);

  // To be asked before anything runs. Leaves an existing file as it is.
  static absl::Status CheckWritable(const std::string& path);

  // False, so that nothing is run, if the first document cannot be written.
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

  // Whether the file holds everything that was reported so far.
  const absl::Status& status() const { return status_; }

  // For a signal handler to unlink; empty if there is no file. Never changes.
  const std::string& TempPath() const;

 private:
  std::string Document() const;
  void TakePending();
  void Save();
  absl::Status Write() const;

  const std::optional<AtomicFile> file_;
  const StatusLookup lookup_;
  std::ostream& err_;
  std::ostream* given_ = nullptr;
  std::ostringstream pending_;  // What the base class wrote since TakePending.
  std::string body_;            // All of it before: "benchmarks" is still open.
  std::vector<std::string> skipped_;  // JSON objects.
  std::vector<std::string> errors_;
  RowCounts counts_;
  bool begun_ = false;
  bool complete_ = false;
  absl::Status status_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_RESULT_FILE_H_
