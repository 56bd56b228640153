// SPDX-License-Identifier: MIT

#include "fixtures/case_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fixtures/experiment.h"

namespace trainbench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAreArray;

// Two experiments, registered as a program registers its own.
template <typename Derived>
class Nothing : public Workload {
 public:
  struct Params {
    std::string kind;
    int64_t seq;
  };
  Nothing(const Params&, const Device&) {}
  static CaseName NameOf(const Params& p) {
    return CaseName(Derived::kName).Word("kind", p.kind).Value("seq", p.seq);
  }
  static Cost CostOf(const Params&, const Device&) { return {}; }
  absl::Status Check() override { return absl::OkStatus(); }
  void Run(PhaseObserver&) override {}
};

class Softmax final : public Nothing<Softmax> {
 public:
  using Nothing::Nothing;
  static constexpr char kName[] = "softmax";
  static std::vector<Params> Sweep(const RunOptions& options, const Device&) {
    if (options.suite == Suite::kPaper) return {{"fused", 65536}};
    return {{"naive", 64}, {"fused", 64}, {"fused", 128}};
  }
};

class Attention final : public Nothing<Attention> {
 public:
  using Nothing::Nothing;
  static constexpr char kName[] = "attention";
  static std::vector<Params> Sweep(const RunOptions&, const Device&) {
    return {{"naive", 64}, {"sdpa", 64}};
  }
};

const bool kRegistered = Register<Softmax>() && Register<Attention>();

class CaseFilterTest : public testing::Test {
 protected:
  std::vector<std::string> Select(const std::string& filter) const {
    const auto cases = SelectCases(filter, options_, device_);
    EXPECT_TRUE(cases.ok()) << cases.status();
    std::vector<std::string> names;
    if (!cases.ok()) return names;
    for (const Case& one : *cases) names.push_back(one.name.text());
    return names;
  }

  absl::Status Error(const std::string& filter) const {
    const absl::Status status = SelectCases(filter, options_, device_).status();
    EXPECT_FALSE(status.ok()) << filter;
    return status;
  }

  std::string Message(const std::string& filter) const {
    return std::string(Error(filter).message());
  }

  RunOptions options_;
  Device device_;
};

TEST_F(CaseFilterTest, ADotTakesAllInOrder) {
  ASSERT_TRUE(kRegistered);
  EXPECT_THAT(Select("."),
              ElementsAre("attention/naive/seq:64", "attention/sdpa/seq:64",
                          "softmax/naive/seq:64", "softmax/fused/seq:64",
                          "softmax/fused/seq:128"));
}

TEST_F(CaseFilterTest, AShuffleIsOfTheSameCasesAndOfItsSeed) {
  const std::vector<std::string> ordered = Select(".");
  std::set<std::vector<std::string>> orders;
  for (int64_t seed = 1; seed <= 20; ++seed) {
    options_.shuffle = seed;
    const std::vector<std::string> shuffled = Select(".");
    EXPECT_THAT(shuffled, UnorderedElementsAreArray(ordered));
    EXPECT_EQ(Select("."), shuffled);
    orders.insert(shuffled);
  }
  EXPECT_GT(orders.size(), 10u);
}

TEST_F(CaseFilterTest, AnExpressionIsFoundAnywhereInTheName) {
  EXPECT_THAT(Select("naive"),
              ElementsAre("attention/naive/seq:64", "softmax/naive/seq:64"));
  EXPECT_THAT(Select("^softmax/.*:64$"),
              ElementsAre("softmax/naive/seq:64", "softmax/fused/seq:64"));
  EXPECT_THAT(Select("sdpa|seq:128"),
              ElementsAre("attention/sdpa/seq:64", "softmax/fused/seq:128"));
}

TEST_F(CaseFilterTest, AMinusTakesTheOthers) {
  EXPECT_THAT(Select("-softmax"),
              ElementsAre("attention/naive/seq:64", "attention/sdpa/seq:64"));
  EXPECT_THAT(Select("-seq:64$"), ElementsAre("softmax/fused/seq:128"));
}

TEST_F(CaseFilterTest, RunSettingsAreNoPartOfTheName) {
  EXPECT_THAT(Message("iterations:1"), HasSubstr("no case"));
  EXPECT_THAT(Message("manual_time"), HasSubstr("no case"));
}

TEST_F(CaseFilterTest, ABadExpressionIsNamed) {
  for (const std::string filter : {"(", "a[", "*", "-("}) {
    const absl::Status status = Error(filter);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << filter;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("--benchmark_filter is '" + filter +
                          "'; allowed: an extended regular expression ("));
  }
}

TEST_F(CaseFilterTest, NoMatchNamesTheNearest) {
  const absl::Status status = Error("atention/sdpa");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(std::string(status.message()),
            "no case of --suite=quick matches "
            "--benchmark_filter='atention/sdpa'; did you mean "
            "attention/sdpa/seq:64?");
}

TEST_F(CaseFilterTest, AtMostThreeNamesAreSuggested) {
  EXPECT_THAT(Message("softmaxx"),
              AllOf(HasSubstr("softmax/naive/seq:64 or softmax/fused/seq:64 or "
                              "softmax/fused/seq:128?"),
                    Not(HasSubstr("attention"))));
}

TEST_F(CaseFilterTest, NothingNearPointsToTheList) {
  EXPECT_EQ(Message("zzzzzzzzzz"),
            "no case of --suite=quick matches --benchmark_filter='zzzzzzzzzz'; "
            "--benchmark_list_tests shows all names");
}

TEST_F(CaseFilterTest, AnotherSuiteMayHaveIt) {
  EXPECT_EQ(Message("seq:65536"),
            "no case of --suite=quick matches --benchmark_filter='seq:65536'; "
            "--suite=paper has it");
  options_.suite = Suite::kPaper;
  EXPECT_THAT(Select("seq:65536"), ElementsAre("softmax/fused/seq:65536"));
  EXPECT_THAT(Message("seq:128"), HasSubstr("; --suite=smoke has it"));
}

TEST_F(CaseFilterTest, AMinusThatTakesAllAwayIsAnErrorToo) {
  EXPECT_EQ(Error("-.").code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace trainbench
