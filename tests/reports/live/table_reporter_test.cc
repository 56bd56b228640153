// SPDX-License-Identifier: MIT

#include "reports/live/table_reporter.h"

#include <benchmark/benchmark.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <sstream>

#include "absl/strings/str_split.h"
#include "reports/live/deferred_reporter.h"
#include "reports/live/row_counter.h"
#include "tests/support/benchmark_runs.h"

namespace trainbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = RowStatus::Kind;

class TableReporterTest : public ::testing::Test {
 protected:
  TableReporterTest() { unsetenv("NO_COLOR"); }

  StatusLookup Lookup() {
    return [this](const std::string& name) {
      const auto it = statuses_.find(name);
      return it == statuses_.end() ? RowStatus{} : it->second;
    };
  }

  TableReporter Make(TableOptions options = {.header = {}, .name_width = 8}) {
    TableReporter reporter(std::move(options), Lookup());
    reporter.SetOutputStream(&out_);
    return reporter;
  }

  // The lines after the headings.
  std::vector<std::string> Rows() {
    std::vector<std::string> lines = absl::StrSplit(out_.str(), '\n');
    if (!lines.empty()) lines.erase(lines.begin());
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    return lines;
  }

  std::map<std::string, RowStatus> statuses_;
  std::ostringstream out_;
};

TEST_F(TableReporterTest, ANullGpusRowHasNoTime) {
  statuses_["null"].is_timed = false;
  BenchmarkRun row = MakeRun("null", 0);
  row.counters = {{"peak_bytes", 1.5e9}};
  TableReporter reporter = Make();
  reporter.ReportRuns({row, MakeRun("real", 0)});
  EXPECT_THAT(Rows(), ElementsAre("null             -      -                   "
                                  "     -             -   1.40 GiB          -",
                                  HasSubstr("no valid time was recorded")));
}

TEST_F(TableReporterTest, PrintsAlignedRows) {
  BenchmarkRun full = MakeRun("full");
  full.counters = {{"p50_us", 1000},
                   {"p50_low_us", 994},
                   {"p50_high_us", 1010},
                   {"forward_us", 3813.0},
                   {"loss_us", 246.0},
                   {"backward_us", 7011.0},
                   {"communication_us", 1230.0},
                   {"optimizer_us", 1230.0},
                   {"flops_per_second", 1.42e11},
                   {"peak_bytes", 1.5e9},
                   {"predicted_peak_bytes", 1.49e9},
                   {"mfu", 0.41},
                   {"cv", 0.123},
                   {"launch_bound", 1.0}};
  BenchmarkRun bare = MakeRun("bare", 845);
  bare.counters = {{"bytes_per_second", 12.1e9}, {"cv", 0.02}};
  TableReporter reporter = Make();
  reporter.ReportRuns({full, bare});
  EXPECT_EQ(out_.str(),
            "case          time   ±95%  fwd/loss/bwd/comm/opt %          rate"
            "   peak mem  predicted  note\n"
            "full       12.3 ms  ±0.8%              28/2/52/9/9   142 GFLOP/s"
            "   1.40 GiB   1.39 GiB  launch-bound, mfu 41 %, noisy: cv 12 %\n"
            "bare        845 us      -                        -     12.1 GB/s"
            "          -          -\n");
}

TEST_F(TableReporterTest, AttentionsRateIsWithoutTheMaskedHalf) {
  BenchmarkRun run = MakeRun("flash");
  run.counters = {{"flops_per_second", 500e9},
                  {"kernel_flops_per_second", 250e9},
                  {"mfu_measured", 1.2}};
  TableReporter reporter = Make();
  reporter.ReportRuns({run});
  EXPECT_THAT(out_.str(), HasSubstr("250 GFLOP/s"));
  EXPECT_THAT(out_.str(), HasSubstr("60 % of peak"));
}

TEST_F(TableReporterTest, ProcessesCanBeOneLineWithThemAll) {
  std::vector<BenchmarkRun> runs;
  for (const double us : {12e3, 10e3, 11e3}) {
    runs.push_back(MakeRun("case", us));
    runs.back().counters = {
        {"p50_us", us}, {"p50_low_us", us}, {"p50_high_us", us}};
  }
  TableReporter reporter =
      Make({.header = {}, .name_width = 8, .is_one_line = true});
  reporter.ReportRuns(runs);
  BenchmarkRun mean = MakeRun("case", 11e3);
  mean.run_type = BenchmarkRun::RT_Aggregate;
  reporter.ReportRuns({mean});
  EXPECT_THAT(Rows(),
              ElementsAre(testing::StartsWith("case       11.0 ms  ±9.1%")));
  statuses_["bad"].kind = Kind::kError;
  statuses_["bad"].reason = "it broke";
  reporter.ReportRuns({MakeRun("bad"), MakeRun("bad")});
  EXPECT_THAT(Rows().back(), HasSubstr("it broke"));
}

TEST_F(TableReporterTest, ADisturbedRowSaysByWhatAtItsEnd) {
  BenchmarkRun run = MakeRun("stolen", 12);
  run.report_label =
      MakeLabel(R"([["noisy", "12 % of the time stolen"], ["trend", "-7 %"]])");
  TableReporter reporter = Make();
  reporter.ReportRuns({run});
  run.counters = {{"cv", 0.31}, {"speedup", 2.0}};
  reporter.ReportRuns({run});
  EXPECT_THAT(
      Rows(),
      ElementsAre(
          testing::EndsWith("  trend=-7 %, noisy: 12 % of the time stolen"),
          testing::EndsWith("  trend=-7 %, speed-up 2, noisy: 12 % of the time "
                            "stolen + cv 31 %")));
}

TEST_F(TableReporterTest, ALaunchBoundRowOfTheDevicesTimeTellsTheHostsToo) {
  BenchmarkRun run = MakeRun("held", 12);
  run.counters = {{"launch_bound", 1.0}, {"driven_us", 48.0}};
  TableReporter reporter = Make();
  reporter.ReportRuns({run});
  EXPECT_THAT(Rows(), ElementsAre(testing::EndsWith(
                          "  launch-bound: 48.0 us as the host drives it")));
}

TEST_F(TableReporterTest, TheSharesOfARowThatTimesOnePhaseAreOfTheStep) {
  BenchmarkRun run = MakeRun("bwd", 300);
  run.counters = {{"forward_us", 100.0}, {"backward_us", 300.0}};
  TableReporter reporter = Make();
  reporter.ReportRuns({run});
  EXPECT_THAT(Rows(), ElementsAre(HasSubstr(" 25/-/75/-/- ")));
}

TEST_F(TableReporterTest, NotesTellFindingsAndComparisons) {
  BenchmarkRun run = MakeRun("one");
  run.report_label = MakeLabel(R"([["logits", "bf16"], ["loss", "fp32"]])");
  run.counters = {{"speedup", 1.925}, {"mfu_measured", 0.5}};
  BenchmarkRun bare = MakeRun("two");
  bare.report_label = MakeLabel();
  TableReporter reporter = Make();
  reporter.ReportRuns({run, bare});
  EXPECT_THAT(Rows(), ElementsAre(testing::EndsWith(
                                      "  logits=bf16, loss=fp32, speed-up "
                                      "1.93, 50 % of peak"),
                                  Not(HasSubstr("tiny"))));
}

TEST_F(TableReporterTest, PrintsHeadingsOnceAndRowsAsTheyCome) {
  TableReporter reporter = Make();
  reporter.ReportRuns({});
  EXPECT_EQ(out_.str(), "");
  reporter.ReportRuns({MakeRun("one")});
  EXPECT_THAT(Rows(), ElementsAre(HasSubstr("one")));
  reporter.ReportRuns({MakeRun("two")});
  EXPECT_THAT(Rows(), ElementsAre(HasSubstr("one"), HasSubstr("two")));
}

TEST_F(TableReporterTest, ShowsOnlyThePhasesThatACaseHas) {
  BenchmarkRun run = MakeRun("fwd", 100);
  run.counters["forward_us"] = 100.0;
  TableReporter reporter = Make();
  reporter.ReportRuns({run});
  EXPECT_THAT(out_.str(), HasSubstr(" 100/-/-/-/- "));
}

TEST_F(TableReporterTest, LeavesOutTheLabelBecauseTheNameSaysIt) {
  BenchmarkRun run = MakeRun("a/fp32");
  run.report_label = "precision=fp32";
  TableReporter reporter = Make();
  reporter.ReportRuns({run});
  EXPECT_THAT(out_.str(), Not(HasSubstr("precision=")));
}

TEST_F(TableReporterTest, NeverCutsANameNorPrintsWhatIsNotFinite) {
  BenchmarkRun run = MakeRun("longer_than_the_column/seq:128");
  run.counters["p50_high_us"] = std::numeric_limits<double>::infinity();
  run.counters["flops_per_second"] = std::numeric_limits<double>::infinity();
  run.counters["mfu"] = std::numeric_limits<double>::quiet_NaN();
  TableReporter reporter = Make();
  reporter.ReportRuns({run});
  EXPECT_THAT(out_.str(), HasSubstr("\nlonger_than_the_column/seq:128   12.3"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("inf")));
  EXPECT_THAT(out_.str(), Not(HasSubstr("nan")));
}

TEST_F(TableReporterTest, SaysWhyARowIsMissing) {
  statuses_["big"] = {Kind::kSkipped, "needs 80 GiB, has 16 GiB", 80};
  statuses_["bad"] = {Kind::kError, "wrong result\nat line 2", {}};
  TableReporter reporter = Make();
  reporter.ReportRuns({MakeFailed("big", "x")});
  reporter.ReportRuns({MakeFailed("bad", "x")});
  reporter.ReportRuns({MakeFailed("odd", "from Google Benchmark")});
  EXPECT_THAT(Rows(),
              ElementsAre("big        SKIPPED  needs 80 GiB, has 16 GiB",
                          "bad          ERROR  wrong result",
                          "odd          ERROR  from Google Benchmark"));
}

TEST_F(TableReporterTest, ARowWithoutATimeIsAnError) {
  TableReporter reporter = Make();
  reporter.ReportRuns({MakeRun("zero", 0)});
  EXPECT_THAT(Rows(), ElementsAre(HasSubstr("ERROR  no valid time")));
  reporter.Finalize();
  EXPECT_THAT(out_.str(), HasSubstr(", 1 failed\n"));
}

TEST_F(TableReporterTest, ColoursOnATerminalUnlessForbidden) {
  statuses_["bad"] = {Kind::kError, "wrong result", {}};
  const TableOptions terminal = {
      .header = {}, .name_width = 8, .is_terminal = true};
  TableReporter colourful = Make(terminal);
  colourful.ReportRuns({MakeFailed("bad", "x")});
  EXPECT_THAT(Rows(),
              ElementsAre("bad          \033[31mERROR\033[0m  wrong result"));
  out_.str("");
  setenv("NO_COLOR", "1", 1);
  TableReporter plain = Make(terminal);
  unsetenv("NO_COLOR");
  plain.ReportRuns({MakeFailed("bad", "x")});
  EXPECT_THAT(Rows(), ElementsAre("bad          ERROR  wrong result"));
}

TEST_F(TableReporterTest, PrintsAggregatesWithoutCountingThem) {
  BenchmarkRun cv = MakeAggregate("a", "cv", benchmark::kPercentage, 0.0213);
  cv.counters["flops_per_second"] = 0.0150;
  TableReporter reporter = Make({.header = {}, .name_width = 9});
  reporter.ReportRuns({MakeRun("a"), MakeRun("a")});
  reporter.ReportRuns(
      {MakeAggregate("a", "median", benchmark::kTime, 12'400), cv});
  reporter.Finalize();
  EXPECT_THAT(
      Rows(),
      ElementsAre(HasSubstr("a "), HasSubstr("a "),
                  HasSubstr("a_median    12.4 ms"),
                  testing::AllOf(HasSubstr("a_cv          2.1 %"),
                                 HasSubstr("      1.5 % ")),
                  "", "1 case in 2 runs: 2 measured, 0 skipped, 0 failed"));
}

TEST_F(TableReporterTest, AFailedCaseHasNoGoodRowAndNoAggregate) {
  statuses_["a"] = {Kind::kError, "out of memory", {}};
  TableReporter reporter = Make();
  reporter.ReportRuns({MakeRun("a"), MakeFailed("a", "x")});
  reporter.ReportRuns({MakeAggregate("a", "mean", benchmark::kTime, 1)});
  EXPECT_THAT(Rows(), ElementsAre(HasSubstr("ERROR"), HasSubstr("ERROR")));
  reporter.Finalize();
  EXPECT_THAT(out_.str(), HasSubstr(", 2 failed\n"));
}

TEST_F(TableReporterTest, AFailureShowsWhenOnlyAggregatesAreDisplayed) {
  statuses_["a"] = {Kind::kError, "out of memory", {}};
  TableReporter reporter = Make();
  reporter.ReportRuns({MakeAggregate("a", "mean", benchmark::kTime, 1),
                       MakeAggregate("a", "median", benchmark::kTime, 1)});
  EXPECT_THAT(Rows(), ElementsAre("a            ERROR  out of memory"));
  reporter.Finalize();
  EXPECT_THAT(out_.str(), HasSubstr(", 1 failed\n"));
}

TEST_F(TableReporterTest, SummarizesAtTheEnd) {
  statuses_["big"] = {Kind::kSkipped, "too big", {}};
  TableReporter reporter = Make();
  reporter.ReportRuns({MakeRun("a")});
  reporter.ReportRuns({MakeFailed("big", "x")});
  reporter.Finalize();
  EXPECT_THAT(out_.str(),
              HasSubstr("\n\n2 cases: 1 measured, 1 skipped, 0 failed\n"));
}

TEST_F(TableReporterTest, LeavesDetailsThatAreGoodToTheResultFile) {
  statuses_["detail"].is_detail = true;
  statuses_["bad"] = {Kind::kError, "wrong result", {}};
  statuses_["bad"].is_detail = true;
  TableReporter reporter = Make();
  reporter.ReportRuns({MakeRun("a"), MakeRun("detail"), MakeRun("detail")});
  reporter.ReportRuns({MakeAggregate("detail", "mean", benchmark::kTime, 1)});
  reporter.ReportRuns({MakeFailed("bad", "x")});
  reporter.Finalize();
  EXPECT_THAT(Rows(), ElementsAre(HasSubstr("a "), HasSubstr("ERROR"), "",
                                  "2 cases: 1 measured, 0 skipped, 1 failed",
                                  HasSubstr("1 smaller part is ")));
}

TEST_F(TableReporterTest, WrapsTheHeader) {
  const std::string wide(100, 'x');
  TableReporter reporter = Make({.header = {{"device", "CPU"},
                                            {"threads", "2"},
                                            {"torch", wide},
                                            {"revision", "abc"}}});
  EXPECT_TRUE(reporter.ReportContext(benchmark::BenchmarkReporter::Context()));
  EXPECT_EQ(out_.str(),
            "device: CPU   threads: 2\ntorch: " + wide + "\nrevision: abc\n\n");
}

class RecordingReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return has_context_ = true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    runs_.insert(runs_.end(), runs.begin(), runs.end());
  }
  void Finalize() override { is_final_ = true; }

  std::vector<Run> runs_;
  bool has_context_ = false;
  bool is_final_ = false;
};

TEST_F(TableReporterTest, RowCounterHandsEverythingOn) {
  RecordingReporter wrapped;
  wrapped.SetOutputStream(&out_);
  RowCounter counter(wrapped, Lookup());
  EXPECT_EQ(&counter.GetOutputStream(), &out_);
  EXPECT_TRUE(counter.ReportContext(benchmark::BenchmarkReporter::Context()));
  counter.ReportRuns({MakeRun("a/seq:1")});
  counter.Finalize();
  EXPECT_TRUE(wrapped.has_context_);
  EXPECT_TRUE(wrapped.is_final_);
  ASSERT_EQ(wrapped.runs_.size(), 1u);
  EXPECT_EQ(wrapped.runs_[0].benchmark_name(), "a/seq:1");
}

TEST_F(TableReporterTest, RowCounterCountsAndMarksWhatFailed) {
  statuses_["big"] = {Kind::kSkipped, "too big", {}};
  statuses_["flaky"] = {Kind::kError, "wrong result", {}};
  RecordingReporter wrapped;
  RowCounter counter(wrapped, Lookup());
  counter.ReportRuns({MakeRun("a")});
  counter.ReportRuns({MakeFailed("big", "x")});
  counter.ReportRuns({MakeRun("flaky"), MakeFailed("flaky", "x")});
  EXPECT_EQ(counter.counts().good(), 1);
  EXPECT_EQ(counter.counts().skipped(), 1);
  EXPECT_EQ(counter.counts().errors(), 2);
  EXPECT_EQ(counter.counts().rows(), 4);
  EXPECT_EQ(counter.counts().cases(), 3);
  ASSERT_EQ(wrapped.runs_.size(), 4u);
  EXPECT_FALSE(IsMarkedFailed(wrapped.runs_[0]));
  EXPECT_TRUE(IsMarkedFailed(wrapped.runs_[2]));
  EXPECT_EQ(FailureMessage(wrapped.runs_[2]), "wrong result");
}

TEST_F(TableReporterTest, DeferredReporterHandsAllRowsOnAtTheEnd) {
  auto owned = std::make_unique<RecordingReporter>();
  RecordingReporter& wrapped = *owned;
  wrapped.SetOutputStream(&out_);
  DeferredReporter deferred(std::move(owned));
  EXPECT_EQ(&deferred.GetOutputStream(), &out_);
  EXPECT_TRUE(deferred.ReportContext(benchmark::BenchmarkReporter::Context()));
  EXPECT_TRUE(wrapped.has_context_);
  deferred.ReportRuns({MakeRun("a")});
  deferred.ReportRuns({MakeRun("b"), MakeRun("c")});
  EXPECT_TRUE(wrapped.runs_.empty());
  deferred.Finalize();
  EXPECT_TRUE(wrapped.is_final_);
  ASSERT_EQ(wrapped.runs_.size(), 3u);
  EXPECT_EQ(wrapped.runs_[2].run_name.function_name, "c");
}

TEST(PublishedRunTest, RemovesRunSettingsOnly) {
  BenchmarkRun run = MakeRun("name/batch:4");
  run.run_name.args = "seq:128";
  run.run_name.min_time = "min_time:0.500";
  run.run_name.min_warmup_time = "min_warmup_time:1.000";
  run.run_name.repetitions = "repeats:3";
  run.run_name.threads = "threads:2";
  EXPECT_EQ(PublishedRun(run).benchmark_name(),
            "name/batch:4/seq:128/threads:2");
  run.run_type = BenchmarkRun::RT_Aggregate;
  run.aggregate_name = "mean";
  EXPECT_EQ(PublishedRun(run).benchmark_name(),
            "name/batch:4/seq:128/threads:2_mean");
}

TEST(PublishedRunTest, TheCpuTimeIsTheHostTime) {
  BenchmarkRun run = MakeRun("a");
  run.iterations = 4;
  EXPECT_DOUBLE_EQ(PublishedRun(run).cpu_accumulated_time, 12'300e-6);
  run.counters["host_us"] = 250.0;
  EXPECT_DOUBLE_EQ(PublishedRun(run).GetAdjustedCPUTime(), 250);
  EXPECT_DOUBLE_EQ(PublishedRun(PublishedRun(run)).GetAdjustedCPUTime(), 250);
  run.iterations = 0;
  EXPECT_DOUBLE_EQ(PublishedRun(run).GetAdjustedCPUTime(), 250);
}

TEST(PublishedRunTest, TheCpuTimeOfAnAggregateIsThatOfTheHostTimes) {
  BenchmarkRun mean = MakeAggregate("a", "mean", benchmark::kTime, 1);
  mean.iterations = 3;
  mean.counters["host_us"] = 250.0;
  EXPECT_DOUBLE_EQ(PublishedRun(mean).GetAdjustedCPUTime(), 250);
  BenchmarkRun cv = MakeAggregate("a", "cv", benchmark::kPercentage, 0.1);
  cv.iterations = 3;
  cv.counters["host_us"] = 0.02;
  EXPECT_DOUBLE_EQ(PublishedRun(cv).cpu_accumulated_time, 0.02);
}

TEST(PublishedRunTest, TheCpuTimeIsThatOfAllThreads) {
  BenchmarkRun run = MakeRun("a", 250);
  run.counters["host_us"] = 250.0;
  EXPECT_DOUBLE_EQ(PublishedRun(run).GetAdjustedCPUTime(), 250);
  run.counters["cpu_us"] = 480.0;
  EXPECT_DOUBLE_EQ(PublishedRun(run).GetAdjustedCPUTime(), 480);
}

TEST_F(TableReporterTest, RanksHaveTheirEfficiencyInPlaceOfASpeedUp) {
  BenchmarkRun run = MakeRun("one");
  run.counters = {{"speedup", 0.5}, {"scaling_efficiency", 0.5}};
  run.counters["exposed_us"] = 0.25 * run.GetAdjustedRealTime() /
                               benchmark::GetTimeUnitMultiplier(run.time_unit) *
                               1e6;
  TableReporter reporter = Make();
  reporter.ReportRuns({run});
  EXPECT_THAT(Rows(), ElementsAre(testing::EndsWith(
                          "  scaling efficiency 50 %, communication exposed "
                          "25 %")));
}

TEST_F(TableReporterTest, TheRateOfAnAllReduceIsThatOfTheBus) {
  BenchmarkRun run = MakeRun("one");
  run.counters = {{"busbw_bytes_per_second", 3e9}, {"bytes_per_second", 1e9}};
  TableReporter reporter = Make();
  reporter.ReportRuns({run});
  EXPECT_THAT(Rows(), ElementsAre(HasSubstr(" 3.00 GB/s ")));
}

}  // namespace
}  // namespace trainbench
