// SPDX-License-Identifier: MIT
// The same work has the same name, whatever the flags are. Some experiments
// time a GPU alone, and some empty its cache.

#include "tests/benchmarks/listed_cases.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "fixtures/experiment/experiment.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

using Axes = std::map<std::string, std::vector<std::string>>;

std::vector<std::string> NamesOf(const std::string& experiment,
                                 const Axes& axes) {
  RunOptions options;
  options.suite = Suite::kSmoke;
  options.axes = axes;
  std::vector<std::string> names;
  for (const std::string& name : ListNames(options, Device())) {
    if (ExperimentOf(name) == experiment) names.push_back(name);
  }
  return names;
}

TEST(CaseNamesTest, ReplicasGatherNothing) {
  const std::string rest = "/tiny/fp32/reshard:0/prefetch:0/ranks:2/";
  EXPECT_THAT(NamesOf("fsdp", {{"sharded", {"nothing", "optimizer"}},
                               {"reshard", {"0", "1"}},
                               {"prefetch", {"0", "1"}}}),
              ElementsAre("fsdp/nothing" + rest + "batch:1/seq:32",
                          "fsdp/optimizer" + rest + "batch:1/seq:32"));
}

TEST(CaseNamesTest, ASegmentHasAllBlocksAtMost) {
  const std::string rest = "/tiny/fp32/train_step/batch:2/seq:32";
  EXPECT_THAT(
      NamesOf("checkpointing", {{"checkpoint", {"every_4", "every_9"}}}),
      ElementsAre("checkpointing/every_4" + rest));
  EXPECT_THAT(NamesOf("checkpointing", {{"checkpoint", {"every_9"}}}),
              ElementsAre("checkpointing/every_4" + rest));
}

TEST(UnavailableCasesTest, NoExperimentHasTf32OnACpu) {
  RunOptions options;
  options.suite = Suite::kSmoke;
  options.axes = {{"precision", {"tf32"}}};
  std::set<std::string> available;
  for (const Case& one : ListCases(options, ListedDevice(DeviceKind::kCpu))) {
    const bool is_tf32 = absl::StrContains(one.name.text(), "/tf32/");
    if (is_tf32 && one.unavailable.empty()) available.insert(ExperimentOf(one));
  }
  EXPECT_THAT(available, IsEmpty());
}

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
