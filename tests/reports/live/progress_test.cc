// SPDX-License-Identifier: MIT

#include "reports/live/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <utility>

namespace trainbench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ProgressTest : public ::testing::Test {
 protected:
  Progress Make(std::vector<double> weights, bool is_terminal = false,
                int columns = 100) {
    return Progress(err_, is_terminal, columns, std::move(weights),
                    [this] { return now_; });
  }

  // What was printed since the last call.
  std::string Printed() {
    std::string text = err_.str();
    err_.str("");
    return text;
  }

  double now_ = 1000;
  std::ostringstream err_;
};

TEST_F(ProgressTest, PrintsOneLinePerCaseWithoutATerminal) {
  Progress progress = Make({1, 1});
  progress.Begin("a/b");
  progress.Stage("build");
  progress.Clear();
  progress.End();
  EXPECT_EQ(Printed(), "[1/2] 0:00 elapsed  a/b\n");
}

TEST_F(ProgressTest, EstimatesFromTheWeightOfFinishedCases) {
  Progress progress = Make({1, 2, 4});
  progress.Begin("first");
  EXPECT_THAT(Printed(), Not(HasSubstr("left")));
  progress.End();
  now_ += 10;
  progress.Begin("second");
  EXPECT_EQ(Printed(), "[2/3] 0:10 elapsed, about 1:00 left  second\n");
  progress.End();
  now_ += 35;  // 45 s for a weight of 3.
  progress.Begin("third");
  EXPECT_EQ(Printed(), "[3/3] 0:45 elapsed, about 1:00 left  third\n");
}

TEST_F(ProgressTest, CountsTimeSpentInTheCurrentCase) {
  Progress progress = Make({1, 2, 4}, /*is_terminal=*/true);
  progress.Begin("first");
  progress.End();
  now_ += 10;
  progress.Begin("second");
  now_ += 5;
  Printed();
  progress.Stage("sampling");
  EXPECT_THAT(Printed(), HasSubstr("0:15 elapsed, about 0:55 left"));
  now_ += 60;  // Longer than its share: only the third is left.
  progress.Stage("memory");
  EXPECT_THAT(Printed(), HasSubstr("1:15 elapsed, about 0:40 left"));
}

TEST_F(ProgressTest, ShowsHours) {
  Progress progress = Make({1, 1});
  now_ += 3723;
  progress.Begin("slow");
  EXPECT_EQ(Printed(), "[1/2] 1:02:03 elapsed  slow\n");
}

TEST_F(ProgressTest, SurvivesUselessWeightsAndUnplannedCases) {
  const double inf = std::numeric_limits<double>::infinity();
  Progress progress = Make({0, inf, -1});
  for (int i = 0; i < 4; ++i) {
    progress.Begin("case");
    now_ += 1;
    progress.End();
  }
  const std::string printed = Printed();
  EXPECT_THAT(printed, Not(HasSubstr("left")));
  EXPECT_THAT(printed, Not(HasSubstr("nan")));
  EXPECT_THAT(printed, HasSubstr("[4/4] 0:03 elapsed  case\n"));
}

TEST_F(ProgressTest, NothingIsLeftAfterTheLastPlannedCase) {
  Progress progress = Make({1});
  progress.Begin("planned");
  now_ += 10;
  progress.Begin("repetition");
  EXPECT_THAT(Printed(), HasSubstr("[2/2] 0:10 elapsed, about 0:00 left"));
}

TEST_F(ProgressTest, RewritesOneLineOnATerminal) {
  Progress progress = Make({1}, /*is_terminal=*/true);
  progress.Begin("a/b");
  EXPECT_EQ(Printed(), "\r[1/1] 0:00 elapsed  a/b\033[K");
  progress.Stage("warm-up");
  EXPECT_EQ(Printed(), "\r[1/1] 0:00 elapsed  a/b  warm-up\033[K");
}

TEST_F(ProgressTest, ErasesTheLineOnce) {
  Progress progress = Make({1}, /*is_terminal=*/true);
  progress.Clear();
  EXPECT_EQ(Printed(), "");
  progress.Begin("a/b");
  Printed();
  progress.Clear();
  EXPECT_EQ(Printed(), "\r\033[K");
  progress.End();
  EXPECT_EQ(Printed(), "");
}

TEST_F(ProgressTest, EndErasesAndLaterStagesAreIgnored) {
  Progress progress = Make({1}, /*is_terminal=*/true);
  progress.Begin("a/b");
  Printed();
  progress.End();
  EXPECT_EQ(Printed(), "\r\033[K");
  progress.Stage("memory");
  EXPECT_EQ(Printed(), "");
}

TEST_F(ProgressTest, LeavesNoLineBehindWhenDestroyed) {
  {
    Progress progress = Make({1}, /*is_terminal=*/true);
    progress.Begin("a/b");
    Printed();
  }
  EXPECT_EQ(Printed(), "\r\033[K");
}

TEST_F(ProgressTest, NeverFillsTheLastColumn) {
  Progress progress = Make({1}, /*is_terminal=*/true, /*columns=*/25);
  progress.Begin("a_long_name");
  EXPECT_EQ(Printed(), "\r[1/1] 0:00 elapsed  a_lo\033[K");
}

TEST_F(ProgressTest, NeverCutsInsideACharacter) {
  Progress progress = Make({1}, /*is_terminal=*/true, /*columns=*/25);
  progress.Begin("abc\xC3\xA9");
  EXPECT_EQ(Printed(), "\r[1/1] 0:00 elapsed  abc\033[K");
}

TEST_F(ProgressTest, AnUnknownWidthIs80Columns) {
  Progress progress = Make({1}, /*is_terminal=*/true, /*columns=*/0);
  progress.Begin(std::string(200, 'x'));
  EXPECT_EQ(Printed().size(), 1 + 79 + 3u);
}

}  // namespace
}  // namespace trainbench
