// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace trainbench {
namespace {

using ::testing::HasSubstr;

TEST(ParseLinksTest, ReadsRatesAndCosts) {
  const auto links = ParseLinks("nvlink:450:30,ib.ndr-1:0.5:1e3");
  ASSERT_TRUE(links.ok()) << links.status();
  ASSERT_EQ(links->size(), 2u);
  EXPECT_EQ((*links)[0].name, "nvlink");
  EXPECT_DOUBLE_EQ((*links)[0].call.Us(450'000), 31);
  EXPECT_DOUBLE_EQ((*links)[1].call.Us(500), 1001);
}

TEST(ParseLinksTest, NamesWhatIsWrong) {
  for (const auto& [text, word] : {std::pair{"", "links has ''"},
                                   {"a:1", "NAME:GB_PER_S:US"},
                                   {"a:1:2,", "links has ''"},
                                   {"a b:1:2", "links has 'a b:1:2'"},
                                   {"a:x:2", "links has 'a:x:2'"},
                                   {"a:0:2", "GB_PER_S is 0; allowed"},
                                   {"a:1:nan", "US is nan; allowed"},
                                   {"a:1:2,a:3:4", "'a' twice"}}) {
    const auto links = ParseLinks(text);
    EXPECT_THAT(std::string(links.status().message()), HasSubstr(word)) << text;
  }
}

}  // namespace
}  // namespace trainbench
