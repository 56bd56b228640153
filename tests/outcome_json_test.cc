// SPDX-License-Identifier: MIT

#include "fixtures/outcome_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace trainbench {
namespace {

using ::testing::HasSubstr;

CaseOutcome Full() {
  CaseOutcome outcome;
  outcome.median_us = 0.1 + 0.2;
  outcome.counters = {{"p50_us", 1.0 / 3}, {"seq", 128}};
  outcome.findings = "logits=bf16";
  outcome.predicted_peak_bytes = int64_t{1} << 53;
  outcome.sampling.first_call = {.total_us = 900, .host_us = 800};
  outcome.sampling.warmup_us = {9, 8};
  outcome.sampling.samples = {{7, 6, {5, 0, 2, 0}}, {3, 2, {1, 0, 2, 0}}};
  outcome.sampling.stop_reason = StopReason::kCount;
  outcome.sampling.process_id = 4711;
  outcome.sampling.rank_process_ids = {4711, 4712};
  return outcome;
}

TEST(OutcomeJsonTest, NothingIsLost) {
  const auto back = OutcomeFromJson(OutcomeToJson(Full()));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->kind, CaseOutcome::Kind::kGood);
  EXPECT_EQ(back->median_us, 0.1 + 0.2);
  EXPECT_EQ(back->counters, Full().counters);
  EXPECT_EQ(back->findings, "logits=bf16");
  EXPECT_EQ(back->predicted_peak_bytes, int64_t{1} << 53);
  EXPECT_EQ(back->sampling.first_call.total_us, 900);
  EXPECT_EQ(back->sampling.first_call.host_us, 800);
  EXPECT_EQ(back->sampling.warmup_us, Full().sampling.warmup_us);
  ASSERT_EQ(back->sampling.samples.size(), 2U);
  EXPECT_EQ(back->sampling.samples[0].phase_us,
            Full().sampling.samples[0].phase_us);
  EXPECT_EQ(back->sampling.samples[1].total_us, 3);
  EXPECT_EQ(back->sampling.stop_reason, StopReason::kCount);
  EXPECT_EQ(back->sampling.process_id, 4711);
  EXPECT_EQ(back->sampling.rank_process_ids, Full().sampling.rank_process_ids);
}

TEST(OutcomeJsonTest, AFailureKeepsItsReason) {
  CaseOutcome outcome;
  outcome.kind = CaseOutcome::Kind::kError;
  outcome.reason = "line one\nline two \xff";
  const auto back = OutcomeFromJson(OutcomeToJson(outcome));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->kind, CaseOutcome::Kind::kError);
  EXPECT_THAT(back->reason, HasSubstr("line one\nline two "));
  EXPECT_FALSE(back->predicted_peak_bytes.has_value());
}

TEST(OutcomeJsonTest, AnythingElseIsRefused) {
  std::string cut = OutcomeToJson(Full());
  cut.pop_back();
  for (const std::string& text :
       {std::string(), std::string("hello"), std::string("{}"), cut}) {
    const auto back = OutcomeFromJson(text);
    EXPECT_THAT(std::string(back.status().message()),
                HasSubstr("no outcome of a case"))
        << text;
  }
}

}  // namespace
}  // namespace trainbench
