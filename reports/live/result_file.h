// SPDX-License-Identifier: MIT
// Writes the JSON result. From ReportContext on the file is always a complete
// Google Benchmark document: a process that dies, even by SIGKILL, loses at
// most the running case.

#ifndef TRAINBENCH_REPORTS_LIVE_RESULT_FILE_H_
#define TRAINBENCH_REPORTS_LIVE_RESULT_FILE_H_

#include <benchmark/benchmark.h>

#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "fixtures/base/file.h"
#include "reports/live/row_status.h"
#include "reports/live/run_label.h"

namespace trainbench {

// JSON objects of an earlier result.
struct KeptEntries {
  std::vector<std::string> benchmarks;
  std::vector<std::string> skipped;
  std::vector<std::string> errors;
  std::map<std::string, std::vector<std::string>> tables = {};  // by list
};

// What the experiments said before they ran: JSON objects.
struct Statements {
  std::vector<std::string> questions;
  std::vector<std::string> expectations;
};

// "benchmarks" holds good rows only, each with the objects "parameters" and
// "findings"; "skipped" and "errors" list the missing rows and the reasons;
// "questions" and "expectations" hold the Statements, "counters" what the
// numbers of a row are (fixtures/counters.md); what a case has beside its row
// is in lists of its own, e.g. "profiles", each entry with its "case";
// "complete" is true once the run has ended. So no reader, not even stock
// compare.py, takes a missing number for a fast one.
class ResultFile : public benchmark::JSONReporter {
 public:
  // With an empty `path` Finalize prints the document to the output stream that
  // was set before ReportContext. `err` gets one line when writing starts to
  // fail. It is not GetErrorStream(), because Google Benchmark points the error
  // stream of a file reporter at --benchmark_out.
  ResultFile(std::string path, StatusLookup lookup,
             std::ostream* err = &std::cerr);

  // Puts entries of an earlier result before the rows of this run. Call it
  // before ReportContext.
  void Keep(KeptEntries kept) { kept_ = std::move(kept); }

  // Call it before ReportContext.
  void State(Statements statements) { statements_ = std::move(statements); }

  // Call it before anything runs. Leaves an existing file as it is.
  static absl::Status CheckWritable(const std::string& path);

  // Returns false, so that nothing runs, if the first document cannot be
  // written.
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

  // OK if the file holds every reported row.
  const absl::Status& status() const { return status_; }

  // The temporary file, for a signal handler to unlink; empty if there is no
  // file. Never changes.
  const std::string& TempPath() const;

 private:
  std::string Document() const;
  void TakeTables(const std::string& case_name, const RowStatus& status);
  void AddObjects(const RunLabel& label);
  void TakePending();
  void Save();
  absl::Status Write() const;

  const std::optional<AtomicFile> file_;
  const StatusLookup lookup_;
  std::ostream& err_;
  std::ostream* given_ = nullptr;
  std::ostringstream pending_;  // Output of the base class since TakePending.
  std::string body_;            // Earlier output; "benchmarks" is still open.
  KeptEntries kept_;
  bool is_after_kept_ = false;        // The next row is the first after them.
  std::vector<std::string> skipped_;  // JSON objects.
  std::vector<std::string> errors_;
  Statements statements_;
  std::map<std::string, std::vector<std::string>> tables_;  // by list
  std::set<std::string> tabled_;  // cases whose tables are in them
  RowCounts counts_;
  bool begun_ = false;
  bool complete_ = false;
  absl::Status status_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_RESULT_FILE_H_
