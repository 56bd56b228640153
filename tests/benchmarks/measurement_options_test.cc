// SPDX-License-Identifier: MIT
// The experiments that time a GPU alone, and those that empty its cache.

#include <set>
#include <string>

#include "fixtures/experiment/experiment.h"
#include "tests/benchmarks/listed_cases.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

// Returns the name of a case up to the values of its parameters.
std::string Kind(const Case& bench_case) {
  const std::string experiment = ExperimentOf(bench_case);
  if (experiment != "peak" && experiment != "transfer") return experiment;
  const std::string& name = bench_case.name.text();
  return name.substr(0, name.find('/', experiment.size() + 1));
}

template <typename Predicate>
std::set<std::string> Kinds(Predicate holds) {
  std::set<std::string> kinds;
  for (const Case& bench_case : ListedCases(Suite::kPaper, DeviceKind::kCuda)) {
    if (holds(bench_case.options)) kinds.insert(Kind(bench_case));
  }
  return kinds;
}

TEST(MeasurementOptionsTest, ShortCallsAreHeld) {
  EXPECT_THAT(
      Kinds([](const MeasurementOptions& how) { return how.hold; }),
      ElementsAre("attention_scaling", "flash_attention", "fused_ops",
                  "harness", "norm_precision", "peak/copy", "peak/matmul",
                  "peak/update", "softmax_vs_matmul", "transfer/d2d"));
}

TEST(MeasurementOptionsTest, WhatMemoryBoundsBeginsWithAColdCache) {
  EXPECT_THAT(
      Kinds([](const MeasurementOptions& how) { return how.cold_cache; }),
      ElementsAre("fused_ops", "norm_precision", "optimizer", "peak/copy",
                  "peak/update", "softmax_vs_matmul", "transfer/d2d"));
}

// A hold drops calls, so it cannot keep a count, and ranks do not agree on one.
TEST(MeasurementOptionsTest, NoCountAndNoRanksAreHeld) {
  EXPECT_THAT(Kinds([](const MeasurementOptions& how) {
                return how.hold && (how.count || how.ranks);
              }),
              ElementsAre());
}

}  // namespace
}  // namespace trainbench
