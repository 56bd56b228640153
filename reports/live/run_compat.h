// SPDX-License-Identifier: MIT
// Hides the differences between Google Benchmark 1.7.1 and 1.9.5 in a Run, and
// gives it its published name.

#ifndef TRAINBENCH_REPORTS_LIVE_RUN_COMPAT_H_
#define TRAINBENCH_REPORTS_LIVE_RUN_COMPAT_H_

#include <benchmark/benchmark.h>

#include <string>

#include "reports/live/row_status.h"

namespace trainbench {

using BenchmarkRun = benchmark::BenchmarkReporter::Run;

// Version 1.8 renamed error_occurred and error_message to skipped and
// skip_message. Only in a template does `if constexpr` drop the branch that
// does not compile.
template <typename Run>
bool IsMarkedFailed(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred;
  } else {
    return static_cast<bool>(run.skipped);
  }
}

template <typename Run>
const std::string& FailureMessage(const Run& run) {
  if constexpr (requires { run.error_message; }) {
    return run.error_message;
  } else {
    return run.skip_message;
  }
}

template <typename Run>
void MarkFailed(Run& run, const std::string& message) {
  if constexpr (requires { run.error_occurred; }) {
    run.error_occurred = true;
    run.error_message = message;
  } else {
    run.skipped = decltype(run.skipped)::SkippedWithError;
    run.skip_message = message;
  }
}

bool IsAggregate(const BenchmarkRun& run);

// Removes the run settings that Google Benchmark adds to a name (iterations,
// manual_time, repeats, min_time, min_warmup_time): a changed setting must not
// rename the case, or comparisons would silently drop it. Sets the CPU time to
// the counter cpu_us, the time of all threads on a CPU; where nobody counted
// it, as in a profile, to host_us, the host's time per call.
BenchmarkRun PublishedRun(BenchmarkRun run);

// The worse of the outcomes that Google Benchmark and the runner recorded. The
// runner never clears a failure, so a case with one failed repetition has no
// good row and no aggregate. A row that is timed but has no time is an error: a
// reader would take 0 for infinitely fast.
RowStatus Classify(const BenchmarkRun& published, const StatusLookup& lookup);

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_RUN_COMPAT_H_
