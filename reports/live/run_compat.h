// SPDX-License-Identifier: MIT
// Google Benchmark's Run, made the same for every version from 1.7.1 to 1.9.5
// and named as we publish it.

#ifndef TRAINBENCH_REPORTS_LIVE_RUN_COMPAT_H_
#define TRAINBENCH_REPORTS_LIVE_RUN_COMPAT_H_

#include <benchmark/benchmark.h>

#include <string>

#include "reports/live/row_status.h"

namespace trainbench {

using BenchmarkRun = benchmark::BenchmarkReporter::Run;

// Version 1.8 renamed error_occurred and error_message to skipped and
// skip_message. These are templates because only there does `if constexpr`
// drop the branch that does not compile.
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
// manual_time, repeats, min_time, min_warmup_time): a setting that changes must
// not rename the case, or comparisons would silently drop it. The CPU time
// becomes the host's time per call, the counter host_us.
BenchmarkRun PublishedRun(BenchmarkRun run);

// The worse of what Google Benchmark and the harness know about a published
// run. Failure is sticky in the harness, so a case with one failed repetition
// has no good row and no aggregate. A row without a time is an error: a reader
// would take 0 for infinitely fast.
RowStatus Classify(const BenchmarkRun& published, const StatusLookup& lookup);

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_RUN_COMPAT_H_
