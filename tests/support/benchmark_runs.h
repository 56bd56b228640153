// SPDX-License-Identifier: MIT
// Rows as Google Benchmark reports them, with the suffixes of the run settings.

#ifndef TRAINBENCH_TESTS_SUPPORT_BENCHMARK_RUNS_H_
#define TRAINBENCH_TESTS_SUPPORT_BENCHMARK_RUNS_H_

#include <benchmark/benchmark.h>

#include <map>
#include <string>

#include "fixtures/reporters/run_compat.h"

namespace trainbench {

inline BenchmarkRun MakeRun(const std::string& name,
                            double microseconds = 12'300) {
  BenchmarkRun run;
  run.run_name.function_name = name;
  run.run_name.iterations = "iterations:1";
  run.run_name.time_type = "manual_time";
  run.family_index = 0;
  run.per_family_instance_index = 0;
  run.time_unit = benchmark::kMicrosecond;
  run.real_accumulated_time = microseconds * 1e-6;
  run.cpu_accumulated_time = microseconds * 1e-6;
  run.repetitions = 1;
  run.repetition_index = 0;
  return run;
}

inline BenchmarkRun MakeFailed(
    const std::string& name,
    const std::string& message = "from Google Benchmark") {
  BenchmarkRun run = MakeRun(name, 0);
  MarkFailed(run, message);
  return run;
}

// Finds the status of a row by its published name. `statuses` must outlive the
// lookup; a row that it lacks is good.
inline StatusLookup LookupIn(const std::map<std::string, RowStatus>& statuses) {
  return [&statuses](const BenchmarkRun& run) {
    const auto it = statuses.find(PublishedRun(run).run_name.str());
    return it == statuses.end() ? RowStatus{} : it->second;
  };
}

// `value` is in microseconds, or a share.
inline BenchmarkRun MakeAggregate(
    const std::string& name, const std::string& kind,
    benchmark::StatisticUnit unit = benchmark::kTime, double value = 10) {
  BenchmarkRun run = MakeRun(name, value);
  run.run_type = BenchmarkRun::RT_Aggregate;
  run.aggregate_name = kind;
  run.aggregate_unit = unit;
  run.repetition_index = -1;
  if (unit == benchmark::kPercentage) run.real_accumulated_time = value;
  return run;
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_BENCHMARK_RUNS_H_
