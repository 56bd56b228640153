// SPDX-License-Identifier: MIT

#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "fixtures/experiment/experiment.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

// CS336 assignment 2, mixed_precision_accumulation, printed as in the handout.
// In the last one, once the sum is 4, a term is below half the spacing of 2^-5.
TEST(AccumulationExperimentTest, GivesThePublishedSums) {
  const Device device = *OpenDevice("cpu");
  std::map<std::string, std::string> sums;
  for (const Case& bench_case : ListCases({}, device)) {
    if (ExperimentOf(bench_case) != "accumulation") continue;
    const std::unique_ptr<Fixture> work = bench_case.build();
    EXPECT_EQ(work->Check(), absl::OkStatus()) << bench_case.name.text();
    work->Call(NoObserver());
    const auto counters = work->MeasureExtra({}).value().counters;
    sums[bench_case.name.words().front().second] =
        absl::StrFormat("%.4f", counters.at("sum"));
  }
  EXPECT_THAT(sums,
              UnorderedElementsAre(Pair("fp32_plus_fp32", "10.0001"),
                                   Pair("fp16_plus_fp16", "9.9531"),
                                   Pair("fp32_plus_fp16", "10.0021"),
                                   Pair("fp32_plus_fp32_of_fp16", "10.0021"),
                                   Pair("bf16_plus_bf16", "4.0000")));
}

}  // namespace
}  // namespace trainbench
