// SPDX-License-Identifier: MIT

#include "fixtures/survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace trainbench {
namespace {

int passes = 0;
bool is_wrong = false;
bool forgets_a_row = false;
bool throws = false;

// Two rows per pass, whose time is the number of the pass.
class Halves {
 public:
  struct Params {
    int64_t n;
  };
  Halves(const Params& p, const Device&) : p_(p) {}
  static std::vector<Params> Sweep(const RunOptions&, const Device&) {
    return {{1}, {2}};
  }
  static std::vector<CaseName> RowsOf(const Params& p) {
    return {CaseName("halves").Word("half", "left").Value("n", p.n),
            CaseName("halves").Word("half", "right").Value("n", p.n)};
  }
  static Cost CostOf(const Params& p, const Device&) {
    return {.predicted_peak_bytes = p.n};
  }
  static std::string Unavailable(const Params& p, const Device&) {
    return p.n == 2 ? "two is too many" : "";
  }
  absl::Status Check() {
    return is_wrong ? absl::DataLossError("wrong") : absl::OkStatus();
  }
  absl::StatusOr<std::map<std::string, Observation>> Measure() {
    ++passes;
    if (throws) throw std::runtime_error("out of luck");
    Observation seen;
    seen.sampling.samples = {{.total_us = static_cast<double>(passes)}};
    std::map<std::string, Observation> rows;
    for (const CaseName& row : RowsOf(p_)) rows[row.text()] = seen;
    if (forgets_a_row) rows.erase("halves/right/n:1");
    return rows;
  }

 private:
  Params p_;
};

const bool kRegistered = RegisterSurvey<Halves>();

class SurveyTest : public testing::Test {
 protected:
  SurveyTest() { passes = 0, is_wrong = forgets_a_row = throws = false; }
  std::vector<Case> cases_ = ListCases({}, device_);
  static inline const Device device_ = *OpenDevice("cpu");
};

double TimeOf(const Case& one) {
  const auto seen = one.observe();
  return seen.ok() ? seen->sampling.samples.front().total_us : -1;
}

TEST_F(SurveyTest, EveryRowIsACase) {
  ASSERT_TRUE(kRegistered);
  ASSERT_EQ(cases_.size(), 4U);
  EXPECT_EQ(cases_[1].name.text(), "halves/right/n:1");
  EXPECT_EQ(cases_[1].cost.predicted_peak_bytes, 1);
  EXPECT_EQ(cases_[2].unavailable, "two is too many");
}

TEST_F(SurveyTest, RowsOfAPassShareIt) {
  EXPECT_EQ(TimeOf(cases_[0]), 1);
  EXPECT_EQ(TimeOf(cases_[1]), 1);
  EXPECT_EQ(TimeOf(cases_[2]), 2) << "another pass";
}

TEST_F(SurveyTest, ARepetitionIsANewPass) {
  EXPECT_EQ(TimeOf(cases_[0]), 1);
  EXPECT_EQ(TimeOf(cases_[0]), 2);
  EXPECT_EQ(TimeOf(cases_[1]), 2);
  EXPECT_EQ(TimeOf(cases_[1]), 3);
}

TEST_F(SurveyTest, AWrongResultIsNotMeasured) {
  is_wrong = true;
  EXPECT_EQ(cases_[0].observe().status().message(), "wrong");
  EXPECT_EQ(passes, 0);
}

TEST_F(SurveyTest, AFailedPassIsTriedOncePerRepetition) {
  throws = true;
  EXPECT_THROW(cases_[0].observe(), std::runtime_error);
  EXPECT_THROW(cases_[1].observe(), std::runtime_error);
  EXPECT_EQ(passes, 1);
  throws = false;
  EXPECT_EQ(TimeOf(cases_[0]), 2);
}

TEST_F(SurveyTest, AMissingRowIsAnError) {
  forgets_a_row = true;
  EXPECT_EQ(cases_[1].observe().status().message(),
            "the pass has no row halves/right/n:1");
}

}  // namespace
}  // namespace trainbench
