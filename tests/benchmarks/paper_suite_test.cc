// SPDX-License-Identifier: MIT
// The paper suite has every configuration of the published write-ups.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "fixtures/base/flag_parser.h"
#include "fixtures/base/stable_hash.h"
#include "fixtures/experiment/experiment.h"
#include "tests/benchmarks/listed_cases.h"
#include "tests/support/golden.h"

namespace trainbench {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::StartsWith;

const Device& Cpu() { return ListedDevice(DeviceKind::kCpu); }

// A changed sweep changes its grid in the golden. The number of cases and the
// sum of the hashes of their names change with any case.
TEST(PaperSuiteTest, HasTheCasesOfTheGolden) {
  std::map<std::string, int64_t> counts;
  std::map<std::string, uint64_t> sums;
  for (const Case& bench_case : ListedCases(Suite::kPaper, DeviceKind::kCpu)) {
    ++counts[ExperimentOf(bench_case)];
    sums[ExperimentOf(bench_case)] += StableHash(bench_case.name.text());
  }
  RunOptions options;
  options.suite = Suite::kPaper;
  std::string printed;
  for (const auto& [name, grids] : ListGrids(options, Cpu())) {
    absl::StrAppend(&printed, name, ", ", counts[name], " cases, ",
                    absl::Hex(sums[name], absl::kZeroPad16), "\n");
    for (const std::string& grid : grids) {
      absl::StrAppend(&printed, WrappedText(grid, "    "));
    }
  }
  ExpectGolden("paper_suite.txt", printed);
}

TEST(PaperSuiteTest, MoreRanksSumAGigabyteWhereAFlagAsksForThem) {
  RunOptions options;
  options.suite = Suite::kPaper;
  for (const char* ranks : {"4", "6"}) {
    options.axes = {{"ranks", {ranks}}};
    EXPECT_THAT(ListNames(options, Cpu()),
                Contains(absl::StrCat("all_reduce/gloo/ranks:", ranks,
                                      "/bytes:1000000000")));
  }
}

TEST(PaperSuiteTest, ACpuWithoutArithmeticInBf16HasNoPeakOfIt) {
  RunOptions options;
  options.suite = Suite::kFull;
  const auto peak = Contains(StartsWith("peak/matmul/bf16/"));
  EXPECT_THAT(ListNames(options, Cpu()), peak);
  EXPECT_THAT(ListNames(options, Device()), Not(peak));
}

}  // namespace
}  // namespace trainbench
