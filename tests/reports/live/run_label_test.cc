// SPDX-License-Identifier: MIT

#include "reports/live/run_label.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/benchmark_runs.h"

namespace trainbench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(RunLabelTest, HasParametersAndFindings) {
  const RunLabel label =
      ReadLabel(MakeLabel(R"([["logits", "bf16"], ["loss", "fp32"]])"));
  EXPECT_EQ(label.parameters, R"({"model":"tiny","seq":128})");
  EXPECT_THAT(label.findings,
              ElementsAre(Pair("logits", "bf16"), Pair("loss", "fp32")));
  EXPECT_EQ(LabelText(label), "model=tiny seq=128 | logits=bf16, loss=fp32");
  EXPECT_EQ(FindingsObject(label), R"({"logits":"bf16","loss":"fp32"})");
}

TEST(RunLabelTest, WithoutFindings) {
  const RunLabel label = ReadLabel(MakeLabel());
  EXPECT_EQ(LabelText(label), "model=tiny seq=128");
  EXPECT_EQ(FindingsObject(label), "{}");
}

TEST(RunLabelTest, AnotherLabelStaysAsItIs) {
  for (const char* text : {"", "model=tiny", "{", "[1]", R"({"a": 1})"}) {
    const RunLabel label = ReadLabel(text);
    EXPECT_EQ(label.parameters, "");
    EXPECT_THAT(label.findings, IsEmpty());
    EXPECT_EQ(LabelText(label), text);
  }
}

}  // namespace
}  // namespace trainbench
