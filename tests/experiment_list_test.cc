// SPDX-License-Identifier: MIT

#include "fixtures/experiment_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/experiment.h"

namespace trainbench {
namespace {

// One case in the smoke suite, two in quick, three in paper.
class Growing : public Workload {
 public:
  struct Params {
    int n;
  };
  Growing(const Params&, const Device&) {}
  static std::vector<Params> Sweep(const RunOptions& options, const Device&) {
    std::vector<Params> cases;
    for (int n = 0; n <= static_cast<int>(options.suite); ++n) {
      cases.push_back({n});
    }
    return cases;
  }
  static CaseName NameOf(const Params& p) {
    return CaseName("growing").Value("n", p.n);
  }
  static Cost CostOf(const Params&, const Device&) { return {}; }
  absl::Status Check() override { return absl::OkStatus(); }
  void Run(PhaseObserver&) override {}
};

const bool kRegistered = Register<Growing>();

TEST(ExperimentListTest, HasCountsAndQuestions) {
  ASSERT_TRUE(kRegistered);
  const Device device;
  EXPECT_EQ(
      DescribeExperiments({{"growing", "How far does it grow?"},
                           {"other",
                            "A question that is longer than one line of eighty "
                            "columns can hold?"}},
                          {}, device),
      "cases in suite        smoke  quick  paper\n"
      "\n"
      "growing                   1      2      3\n"
      "    How far does it grow?\n"
      "\n"
      "other                     0      0      0\n"
      "    A question that is longer than one line of eighty columns can hold?"
      "\n");
}

}  // namespace
}  // namespace trainbench
