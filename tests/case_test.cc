// SPDX-License-Identifier: MIT

#include "fixtures/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace trainbench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(CaseNameTest, TextLabelAndValuesAgree) {
  const CaseName name = CaseName("attention_scaling")
                            .Word("kind", "sdpa")
                            .Word("precision", "bf16")
                            .Value("batch", 8)
                            .Value("seq", 1024);
  EXPECT_EQ(name.text(), "attention_scaling/sdpa/bf16/batch:8/seq:1024");
  EXPECT_EQ(name.label(), "kind=sdpa precision=bf16");
  EXPECT_THAT(name.values(), ElementsAre(Pair("batch", 8), Pair("seq", 1024)));
}

TEST(CaseNameTest, WithoutParametersOnlyTheExperimentIsLeft) {
  const CaseName name("peak");
  EXPECT_EQ(name.text(), "peak");
  EXPECT_EQ(name.label(), "");
  EXPECT_THAT(name.values(), IsEmpty());
}

TEST(CaseNameTest, OrderIsKeptWhenWordsFollowValues) {
  const CaseName name =
      CaseName("e").Value("ranks", 2).Word("op", "all_reduce");
  EXPECT_EQ(name.text(), "e/ranks:2/all_reduce");
  EXPECT_EQ(name.label(), "op=all_reduce");
  EXPECT_THAT(name.values(), ElementsAre(Pair("ranks", 2)));
}

TEST(CaseNameTest, ValuesBeyond32BitsAreExact) {
  const CaseName name =
      CaseName("e").Value("bytes", int64_t{1} << 40).Value("offset", -1);
  EXPECT_EQ(name.text(), "e/bytes:1099511627776/offset:-1");
  EXPECT_THAT(name.values(),
              ElementsAre(Pair("bytes", int64_t{1} << 40), Pair("offset", -1)));
}

TEST(CaseNameTest, ACopyGoesItsOwnWay) {
  const CaseName base = CaseName("e").Word("model", "tiny");
  CaseName copy = base;
  copy.Value("seq", 1);
  EXPECT_EQ(base.text(), "e/tiny");
  EXPECT_EQ(copy.text(), "e/tiny/seq:1");
  EXPECT_THAT(base.values(), IsEmpty());
}

TEST(CostTest, NothingIsStatedByDefault) {
  const Cost cost;
  EXPECT_EQ(cost.flops, 0);
  EXPECT_EQ(cost.bytes, 0);
  EXPECT_EQ(cost.params, 0);
  EXPECT_EQ(cost.parameter_bytes, 0);
  EXPECT_EQ(cost.predicted_peak_bytes, 0);
}

}  // namespace
}  // namespace trainbench
