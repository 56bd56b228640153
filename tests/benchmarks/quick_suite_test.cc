// SPDX-License-Identifier: MIT
// How long a person with a GPU waits for the suites.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fixtures/app/estimate.h"
#include "fixtures/app/shard.h"
#include "fixtures/experiment/experiment.h"

namespace trainbench {
namespace {

using testing::Contains;

// A GPU that nothing runs on.
Device H200() {
  Device device;
  device.kind = DeviceKind::kCuda;
  device.name = "NVIDIA H200";
  device.memory_bytes = int64_t{139} << 30;
  device.native_bf16 = true;
  return device;
}

std::vector<Case> ListSuite(Suite suite, const Device& device) {
  RunOptions options;
  options.suite = suite;
  return ListCases(options, device);
}

// Of the cases that a machine with one GPU can run.
double Minutes(const std::vector<Case>& cases, const Device& device) {
  const std::vector<double> seconds = EstimateSeconds(cases, device);
  double sum = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& ranks = cases[i].options.ranks;
    if (ranks && ranks->backend == CommBackend::kNccl && ranks->count > 1) {
      continue;
    }
    sum += seconds[i];
  }
  return sum / 60;
}

TEST(QuickSuiteTest, OnAGpuItHasAtMost300RowsAndTakesFiveMinutes) {
  const Device device = H200();
  const std::vector<Case> cases = ListSuite(Suite::kQuick, device);
  EXPECT_LE(cases.size(), 300U);
  EXPECT_GE(cases.size(), 200U) << "it has become a smoke test";
  EXPECT_LE(Minutes(cases, device), 5);
}

// The quick suite once had 841 rows on a GPU. An estimate by hand, experiment
// by experiment, gave 6 to 9 minutes: the guesses of EstimateSeconds must, too.
TEST(QuickSuiteTest, OnAGpuTheGuessesAreThoseOfAnEstimateByHand) {
  const Device device = H200();
  std::vector<Case> cases;
  for (Case& bench_case : ListSuite(Suite::kPaper, device)) {
    const std::string& name = bench_case.name.text();
    if (name.starts_with("model_size/") && name.ends_with("/seq:512")) {
      cases.push_back(std::move(bench_case));
    }
  }
  EXPECT_EQ(cases.size(), 45U);
  const auto add = [&](int count, const Case& bench_case) {
    cases.insert(cases.end(), static_cast<std::size_t>(count), bench_case);
  };
  Case row{.name = CaseName("row")};
  add(237, row);  // which have little to do
  row.options.fresh_process = true;
  add(10, row);
  row.options.fresh_process = false;
  row.measure = [] { return Measurement(); };
  add(532, row);
  EXPECT_GE(Minutes(cases, device), 6);
  EXPECT_LE(Minutes(cases, device), 9);
}

// Else the advice of a CUDA graph has nothing to be held against.
TEST(QuickSuiteTest, OnAGpuAGraphReplaysATrainStepThatBreakdownDivides) {
  std::set<std::string> names;
  for (const Case& bench_case : ListSuite(Suite::kQuick, H200())) {
    names.insert(bench_case.name.text());
  }
  for (const std::string launch : {"eager", "graph"}) {
    EXPECT_THAT(names, Contains(absl::StrCat(
                           "cuda_graph/", launch,
                           "/small/bf16_autocast/train_step/batch:4/seq:512")));
  }
  EXPECT_THAT(names, Contains("breakdown/small/bf16_autocast/train_step/"
                              "backward/gap/batch:4/seq:512"));
}

TEST(QuickSuiteTest, OnAGpuNoTimedRowFollowsAProfile) {
  const Device device = H200();
  for (const Suite suite : kSuites) {
    bool profiled = false;
    for (const Case& bench_case : ListSuite(suite, device)) {
      profiled = profiled || bench_case.measure != nullptr;
      EXPECT_EQ(bench_case.measure != nullptr, profiled)
          << bench_case.name.text();
    }
    EXPECT_TRUE(profiled) << "breakdown";
  }
}

TEST(QuickSuiteTest, OnAGpuThePaperSuiteCanBeCutIntoEqualParts) {
  const Device device = H200();
  const std::vector<Case> cases = ListSuite(Suite::kPaper, device);
  const double whole = Minutes(cases, device);
  for (int i = 1; i <= 4; ++i) {
    const auto part = TakeShard({i, 4}, cases, device);
    ASSERT_TRUE(part.ok()) << part.status();
    EXPECT_LT(Minutes(*part, device), 0.4 * whole);
  }
}

}  // namespace
}  // namespace trainbench
