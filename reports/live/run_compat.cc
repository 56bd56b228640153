// SPDX-License-Identifier: MIT

#include "reports/live/run_compat.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace trainbench {
namespace {

// Google Benchmark's CPU time covers its own loop, which does no work here.
void UseCountedCpuTime(BenchmarkRun& run) {
  auto us = run.counters.find("cpu_us");
  if (us == run.counters.end()) us = run.counters.find("host_us");
  if (us == run.counters.end()) return;
  run.cpu_accumulated_time = us->second.value;
  if (IsAggregate(run) && run.aggregate_unit == benchmark::kPercentage) return;
  // Readers divide by `iterations`, which in an aggregate is the number of
  // repetitions.
  const auto iterations = std::max<int64_t>(run.iterations, 1);
  run.cpu_accumulated_time *= 1e-6 * static_cast<double>(iterations);
}

}  // namespace

bool IsAggregate(const BenchmarkRun& run) {
  return run.run_type == BenchmarkRun::RT_Aggregate;
}

BenchmarkRun PublishedRun(BenchmarkRun run) {
  run.run_name.iterations.clear();
  run.run_name.time_type.clear();
  run.run_name.repetitions.clear();
  run.run_name.min_time.clear();
  run.run_name.min_warmup_time.clear();
  UseCountedCpuTime(run);
  return run;
}

RowStatus Classify(const BenchmarkRun& published, const StatusLookup& lookup) {
  RowStatus status = lookup(published.run_name.str());
  if (status.kind != RowStatus::Kind::kGood) return status;
  const double seconds = published.real_accumulated_time;
  if (IsMarkedFailed(published)) {
    status.kind = RowStatus::Kind::kError;
    status.reason = FailureMessage(published);
  } else if (status.is_timed && !IsAggregate(published) &&
             !(std::isfinite(seconds) && seconds > 0)) {
    status.kind = RowStatus::Kind::kError;
    status.reason = "no valid time was recorded";
  }
  return status;
}

}  // namespace trainbench
