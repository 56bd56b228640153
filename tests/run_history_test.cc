// SPDX-License-Identifier: MIT

#include "fixtures/run_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace trainbench {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;

Case Named(const std::string& name) { return {.name = CaseName(name)}; }

CaseOutcome Good(std::map<std::string, double> counters) {
  CaseOutcome outcome;
  outcome.counters = std::move(counters);
  return outcome;
}

class RunHistoryTest : public testing::Test {
 protected:
  std::map<std::string, double> Add(const Case& one,
                                    std::map<std::string, double> counters) {
    CaseOutcome outcome = Good(std::move(counters));
    history_.Add(one, outcome);
    return outcome.counters;
  }

  RunHistory history_{"NVIDIA H200"};
};

TEST_F(RunHistoryTest, RatiosAreThisRowOverItsBaseline) {
  Add(Named("base"),
      {{"p50_us", 10}, {"flops", 100}, {"bytes", 8}, {"peak_bytes", 3}});
  Case one = Named("e");
  one.baseline = "base";
  const auto counters = Add(
      one, {{"p50_us", 25}, {"flops", 5}, {"bytes", 16}, {"peak_bytes", 3}});
  EXPECT_EQ(counters.at("time_ratio"), 2.5);
  EXPECT_EQ(counters.at("speedup"), 0.4);
  EXPECT_EQ(counters.at("flop_ratio"), 0.05);
  EXPECT_EQ(counters.at("byte_ratio"), 2);
  EXPECT_EQ(counters.at("peak_ratio"), 1);
}

TEST_F(RunHistoryTest, OnlyWhatBothRowsHaveIsCompared) {
  Add(Named("base"), {{"p50_us", 10}, {"flops", 0}});
  Case one = Named("e");
  one.baseline = "base";
  const auto counters = Add(one, {{"p50_us", 5}, {"flops", 5}, {"bytes", 1}});
  EXPECT_EQ(counters.at("speedup"), 2);
  EXPECT_THAT(counters, Not(Contains(Key("flop_ratio"))));
  EXPECT_THAT(counters, Not(Contains(Key("byte_ratio"))));
}

TEST_F(RunHistoryTest, WithoutTheBaselinesRowThereIsNoRatio) {
  Case one = Named("e");
  one.baseline = "base";
  CaseOutcome failed = Good({{"p50_us", 10}});
  failed.kind = CaseOutcome::Kind::kError;
  history_.Add(Named("base"), failed);
  EXPECT_THAT(Add(one, {{"p50_us", 1}}), Not(Contains(Key("time_ratio"))));
}

Case Product(const std::string& name, Precision precision, bool is_peak) {
  Case one = Named(name);
  one.cost.precision = precision;
  one.is_peak = is_peak;
  return one;
}

TEST_F(RunHistoryTest, SharesAreOfTheBestPeakOfTheSamePrecision) {
  Add(Product("p1", Precision::kFp32, true), {{"flops_per_second", 30e12}});
  Add(Product("p2", Precision::kFp32, true), {{"flops_per_second", 50e12}});
  Add(Product("p3", Precision::kFp32, true), {{"flops_per_second", 40e12}});
  Add(Product("p4", Precision::kBf16, true), {{"flops_per_second", 800e12}});
  const auto fp32 =
      Add(Product("a", Precision::kFp32, false), {{"flops_per_second", 25e12}});
  EXPECT_EQ(fp32.at("mfu_measured"), 0.5);
  EXPECT_DOUBLE_EQ(fp32.at("mfu_datasheet"), 25.0 / 67);
  const auto autocast = Add(Product("b", Precision::kBf16Autocast, false),
                            {{"flops_per_second", 200e12}});
  EXPECT_EQ(autocast.at("mfu_measured"), 0.25);
  EXPECT_DOUBLE_EQ(autocast.at("mfu_datasheet"), 200.0 / 989);
  // A row that is no peak must not become one.
  EXPECT_EQ(
      Add(Product("c", Precision::kBf16, false), {{"flops_per_second", 400e12}})
          .at("mfu_measured"),
      0.5);
}

TEST_F(RunHistoryTest, APeakHasNoShareOfItself) {
  const auto peak = Add(Product("p1", Precision::kFp32, true),
                        {{"flops_per_second", 33.5e12}});
  EXPECT_THAT(peak, Not(Contains(Key("mfu_measured"))));
  EXPECT_EQ(peak.at("mfu_datasheet"), 0.5);
}

TEST_F(RunHistoryTest, WithoutAPeakThereIsNoShare) {
  const auto counters = Add(Product("a", Precision::kFp32, false),
                            {{"flops_per_second", 1}, {"bytes_per_second", 1}});
  EXPECT_THAT(counters, Not(Contains(Key("mfu_measured"))));
  EXPECT_THAT(counters, Not(Contains(Key("bandwidth_share"))));
}

TEST_F(RunHistoryTest, BytesAreComparedWithTheFastestCopy) {
  Case copy = Named("copy");
  copy.is_peak = true;
  Add(copy, {{"bytes_per_second", 4e12}});
  Add(copy, {{"bytes_per_second", 3e12}});
  // The operands of a product say nothing about the memory's speed.
  Add(Product("p", Precision::kFp32, true),
      {{"flops_per_second", 1e12}, {"bytes_per_second", 9e12}});
  EXPECT_EQ(Add(Named("a"), {{"bytes_per_second", 2e12}}).at("bandwidth_share"),
            0.5);
}

Case OfRanks(const std::string& name, int ranks, bool is_peak) {
  Case one = Named(name);
  one.protocol.ranks = RankPlan{.count = ranks};
  one.is_peak = is_peak;
  return one;
}

// A line of 100 us and 1 us per 1000 bytes, which other numbers of ranks do not
// have.
class LinkHistoryTest : public RunHistoryTest {
 protected:
  LinkHistoryTest() {
    Add(OfRanks("r1", 2, true), {{"bytes", 1e4}, {"p50_us", 110}});
    Add(OfRanks("r2", 2, true), {{"bytes", 1e6}, {"p50_us", 1100}});
    Add(OfRanks("r3", 4, true), {{"bytes", 1e4}, {"p50_us", 1e6}});
    Add(OfRanks("r4", 4, true), {{"bytes", 1e6}, {"p50_us", 1e7}});
    Add(OfRanks("alone", 1, false), {{"p50_us", 5000}, {"ranks", 1}});
  }

  std::map<std::string, double> Step(double overlapped) {
    Case one = OfRanks("step", 2, false);
    one.baseline = "alone";
    return Add(one, {{"p50_us", 10000},
                     {"communication_calls", 4},
                     {"communication_bytes", 2e6},
                     {"overlapped", overlapped}});
  }
};

TEST_F(LinkHistoryTest, CallsThatWaitArePredictedByTheFittedLine) {
  const auto counters = Step(0);
  EXPECT_NEAR(counters.at("predicted_communication_us"), 4 * 100 + 2000, 1e-6);
  EXPECT_NEAR(counters.at("predicted_exposed_us"), 2400, 1e-6);
  EXPECT_NEAR(counters.at("predicted_us"), 7400, 1e-6);
  EXPECT_EQ(counters.at("scaling_efficiency"), 0.5);
}

TEST_F(LinkHistoryTest, CallsThatOverlapCostTheLastBucketAndTheirStarts) {
  const auto counters = Step(1);
  EXPECT_NEAR(counters.at("predicted_communication_us"), 2400, 1e-6);
  EXPECT_NEAR(counters.at("predicted_exposed_us"), 2000 / 4.0 + 4 * 100, 1e-6);
  // sqrt(2e6 bytes * 1000 bytes/us * 100 us) = 447214 bytes.
  EXPECT_NEAR(counters.at("optimal_bucket_mb"), 447213.6 / 0x1p20, 1e-6);
}

TEST_F(LinkHistoryTest, EfficiencyIsAgainstOneProcessOnly) {
  Add(OfRanks("replicated", 2, false), {{"p50_us", 5000}, {"ranks", 2}});
  Case one = OfRanks("sharded", 2, false);
  one.baseline = "replicated";
  const auto counters = Add(one, {{"p50_us", 10000}});
  EXPECT_EQ(counters.at("speedup"), 0.5);
  EXPECT_THAT(counters, Not(Contains(Key("scaling_efficiency"))));
}

TEST_F(LinkHistoryTest, WithoutALineThereIsNoPrediction) {
  Case one = OfRanks("step", 6, false);
  EXPECT_THAT(Add(one, {{"p50_us", 1},
                        {"communication_calls", 4},
                        {"communication_bytes", 2e6}}),
              Not(Contains(Key("predicted_exposed_us"))));
  EXPECT_THAT(Add(OfRanks("sum", 2, false), {{"p50_us", 1}}),
              Not(Contains(Key("predicted_exposed_us"))));
}

TEST_F(LinkHistoryTest, ARankOnACpuHasNoShareOfTheWholeCpusPeak) {
  Add(Product("p", Precision::kFp32, true), {{"flops_per_second", 4}});
  Case rank = OfRanks("step", 2, false);
  rank.cost.precision = Precision::kFp32;
  EXPECT_THAT(Add(rank, {{"p50_us", 1}, {"flops_per_second", 1}}),
              Not(Contains(Key("mfu_measured"))));
  rank.protocol.ranks->backend = CommBackend::kNccl;
  EXPECT_EQ(
      Add(rank, {{"p50_us", 1}, {"flops_per_second", 1}}).at("mfu_measured"),
      0.25);
}

}  // namespace
}  // namespace trainbench
