// SPDX-License-Identifier: MIT
// The suite that `tools/bench` runs without any flag.

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fixtures/app/estimate.h"
#include "fixtures/app/shard.h"
#include "fixtures/experiment/experiment.h"
#include "tests/benchmarks/listed_cases.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

constexpr DeviceKind kCpu = DeviceKind::kCpu;
constexpr DeviceKind kGpu = DeviceKind::kCuda;

std::set<std::string> NamesOf(Suite suite, DeviceKind device) {
  std::set<std::string> names;
  for (const Case& bench_case : ListedCases(suite, device)) {
    names.insert(bench_case.name.text());
  }
  return names;
}

// Counts each row, but at most five parts of a profiled step.
std::size_t PrintedRows(const std::vector<Case>& cases) {
  std::map<std::string, std::size_t> parts;  // by pass
  std::size_t rows = 0;
  for (const Case& bench_case : cases) {
    if (!bench_case.measure ||
        bench_case.name.text().find("/all/") != std::string::npos) {
      ++rows;
    } else {
      ++parts[bench_case.pass];
    }
  }
  for (const auto& [pass, count] : parts) {
    rows += std::min<std::size_t>(count, 5);
  }
  return rows;
}

TEST(QuickSuiteTest, HasFewRows) {
  EXPECT_LE(PrintedRows(ListedCases(Suite::kQuick, kCpu)), 120U);
  EXPECT_LE(PrintedRows(ListedCases(Suite::kQuick, kGpu)), 300U);
}

TEST(QuickSuiteTest, IsAPartOfTheFullOneThatAsksEveryQuestion) {
  for (const DeviceKind device : {kCpu, kGpu}) {
    const std::set<std::string> full = NamesOf(Suite::kFull, device);
    EXPECT_THAT(full, IsSupersetOf(NamesOf(Suite::kQuick, device)));
    std::set<std::string> asked, all;
    for (const std::string& name : NamesOf(Suite::kQuick, device)) {
      asked.insert(ExperimentOf(name));
    }
    for (const std::string& name : full) all.insert(ExperimentOf(name));
    EXPECT_EQ(asked, all);
  }
}

// Numbers for these cases on one GPU have been published elsewhere.
TEST(QuickSuiteTest, OnAGpuItHasTheLargestModel) {
  EXPECT_THAT(
      NamesOf(Suite::kQuick, kGpu),
      IsSupersetOf({"implementations/library/2.7B/bf16_autocast/"
                    "forward_backward/batch:4/seq:512",
                    "implementations/fused/2.7B/bf16_autocast/"
                    "forward_backward/batch:4/seq:512",
                    "implementations/fused/2.7B/bf16/"
                    "forward_backward/batch:4/seq:512",
                    "optimizer/textbook/2.7B", "optimizer/fused/2.7B"}));
  for (const Case& one : ListedCases(Suite::kQuick, kGpu)) {
    if (absl::StrContains(one.name.text(), "/2.7B")) {
      EXPECT_EQ(one.unavailable, "") << one.name.text();
    }
  }
}

// Without it, the advice of a CUDA graph could not be verified.
TEST(QuickSuiteTest, OnAGpuAGraphReplaysATrainStepThatBreakdownDivides) {
  const std::set<std::string> names = NamesOf(Suite::kQuick, kGpu);
  for (const std::string launch : {"eager", "graph"}) {
    EXPECT_THAT(names, Contains(absl::StrCat(
                           "cuda_graph/", launch,
                           "/small/bf16_autocast/train_step/batch:4/seq:512")));
  }
  EXPECT_THAT(names, Contains("breakdown/small/bf16_autocast/train_step/"
                              "backward/gap/batch:4/seq:512"));
}

TEST(QuickSuiteTest, OnAGpuThePaperSuiteCanBeCutIntoPartsOfAboutAsManyRows) {
  const Device& device = ListedDevice(kGpu);
  const std::vector<Case>& cases = ListedCases(Suite::kPaper, kGpu);
  const auto guess = [&](const std::vector<Case>& some) {
    const std::vector<double> seconds = EstimateSeconds(some, device);
    return std::accumulate(seconds.begin(), seconds.end(), 0.0);
  };
  for (int i = 1; i <= 4; ++i) {
    EXPECT_LT(guess(TakeShard({i, 4}, cases, device).value()),
              0.4 * guess(cases));
  }
}

}  // namespace
}  // namespace trainbench
