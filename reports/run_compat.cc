// SPDX-License-Identifier: MIT

#include "reports/run_compat.h"

#include <cmath>
#include <utility>

namespace trainbench {

bool IsAggregate(const BenchmarkRun& run) {
  return run.run_type == BenchmarkRun::RT_Aggregate;
}

BenchmarkRun PublishedRun(BenchmarkRun run) {
  run.run_name.iterations.clear();
  run.run_name.time_type.clear();
  run.run_name.repetitions.clear();
  run.run_name.min_time.clear();
  run.run_name.min_warmup_time.clear();
  return run;
}

RowStatus Classify(const BenchmarkRun& published, const StatusLookup& lookup) {
  RowStatus status = lookup(published.run_name.str());
  if (status.kind != RowStatus::Kind::kGood) return status;
  const double seconds = published.real_accumulated_time;
  if (IsMarkedFailed(published)) {
    status.kind = RowStatus::Kind::kError;
    status.reason = FailureMessage(published);
  } else if (!IsAggregate(published) &&
             !(std::isfinite(seconds) && seconds > 0)) {
    status.kind = RowStatus::Kind::kError;
    status.reason = "no valid time was recorded";
  }
  return status;
}

}  // namespace trainbench
