// SPDX-License-Identifier: MIT
// Our cases in the real Google Benchmark, in this process.

#include "fixtures/session.h"

#include <benchmark/benchmark.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/fake_workload.h"

namespace trainbench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Row = benchmark::BenchmarkReporter::Run;

constexpr int kRepetitions = 3;
constexpr char kSuffix[] = "/iterations:1/manual_time";

// The reason why Google Benchmark takes a run for a failed one, or "". Version
// 1.8 renamed the fields.
template <typename AnyRun>
std::string ErrorOf(const AnyRun& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred ? run.error_message : "";
  } else {
    return run.skipped ? run.skip_message : "";
  }
}

class Collector final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Row>& report) override {
    for (const Row& run : report) {
      (run.run_type == Row::RT_Aggregate ? aggregates : runs).push_back(run);
    }
  }

  std::vector<Row> runs;
  std::vector<Row> aggregates;
};

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

class SessionTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string program = "session_test";
    std::string repetitions =
        "--benchmark_repetitions=" + std::to_string(kRepetitions);
    char* argv[] = {program.data(), repetitions.data(), nullptr};
    int argc = 2;
    benchmark::Initialize(&argc, argv);
  }

  SessionTest() {
    options_.warmup_calls = 0;
    options_.sampling_seconds = 0;
  }
  ~SessionTest() override { benchmark::ClearRegisteredBenchmarks(); }

  // Runs the cases and keeps their session.
  void RunCases(std::vector<Case> cases) {
    session_ = std::make_unique<Session>(
        std::move(cases), runner_, samples_.get(),
        Session::Listener{
            [this](const std::string& name) { events_.push_back(name); },
            [this] { events_.push_back("end"); }});
    session_->RegisterAll();
    benchmark::RunSpecifiedBenchmarks(&collector_, nullptr, ".");
  }

  // Throws in its nth repetition and later; 0: never.
  static Case FailingFrom(const std::string& name, int nth) {
    const auto builds = std::make_shared<int>(0);
    Script script;
    script.build = [builds, nth] {
      ++*builds;
      if (nth > 0 && *builds >= nth) {
        throw std::runtime_error("failure " + std::to_string(*builds));
      }
    };
    return MakeFakeCase(name, script);
  }

  void OpenLog(const std::string& path) {
    auto log = SampleLog::Open(path);
    ASSERT_TRUE(log.ok()) << log.status();
    samples_ = *std::move(log);
  }

  Device device_ = *OpenDevice("cpu");
  RunOptions options_;
  CaseRunner runner_{device_, options_, [](absl::string_view) {}};
  std::unique_ptr<SampleLog> samples_;
  std::vector<std::string> events_;
  Collector collector_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, EachRepetitionIsARowWithTheMedianAsItsTime) {
  Script script;
  script.run = [](PhaseObserver&) { SpinUs(50); };
  Case one = MakeFakeCase("e", script, {.params = 9});
  one.name.Word("model", "tiny").Value("batch", 4);
  RunCases({one});
  ASSERT_THAT(collector_.runs, SizeIs(kRepetitions));
  for (const Row& run : collector_.runs) {
    EXPECT_EQ(run.benchmark_name(), std::string("e/tiny/batch:4") + kSuffix);
    EXPECT_EQ(ErrorOf(run), "");
    EXPECT_EQ(run.iterations, 1);
    EXPECT_EQ(run.time_unit, benchmark::kMicrosecond);
    EXPECT_EQ(run.report_label, "model=tiny");
    const double median_us = run.counters.at("p50_us");
    EXPECT_GE(median_us, 50);
    EXPECT_NEAR(run.GetAdjustedRealTime(), median_us, 1e-6 * median_us);
    EXPECT_EQ(run.counters.at("params"), 9);
    EXPECT_EQ(run.counters.at("batch"), 4);
    EXPECT_EQ(run.counters.at("samples"), 5);
  }
  EXPECT_EQ(session_->FailureOf("e/tiny/batch:4"), nullptr);
}

TEST_F(SessionTest, FindingsFollowTheParametersInTheLabel) {
  Script script;
  script.find = [](const Sampling&) {
    return absl::StatusOr<Findings>(Findings{{}, {{"logits", "bf16"}}});
  };
  Case one = MakeFakeCase("e", script);
  one.name.Word("model", "tiny");
  RunCases({one});
  EXPECT_EQ(collector_.runs.front().report_label, "model=tiny | logits=bf16");
}

TEST_F(SessionTest, CountersAreValuesAndNotRates) {
  RunCases({MakeFakeCase("e", {}, {.flops = 1000, .bytes = 500})});
  for (const Row& run : collector_.runs) {
    EXPECT_EQ(run.counters.at("flops"), 1000);
    EXPECT_EQ(run.counters.at("bytes"), 500);
    for (const auto& [name, counter] : run.counters) {
      EXPECT_EQ(counter.flags, benchmark::Counter::kDefaults) << name;
    }
  }
}

TEST_F(SessionTest, EveryRepetitionBuildsTheCaseAnew) {
  const int built = FakeWorkload::built();
  RunCases({MakeFakeCase("a"), MakeFakeCase("b")});
  EXPECT_EQ(FakeWorkload::built() - built, 2 * kRepetitions);
  EXPECT_EQ(FakeWorkload::alive(), 0);
  EXPECT_THAT(events_, ElementsAre("a", "end", "a", "end", "a", "end", "b",
                                   "end", "b", "end", "b", "end"));
}

TEST_F(SessionTest, AFailureInTheFirstRepetitionIsFinal) {
  const int built = FakeWorkload::built();
  RunCases({FailingFrom("bad", 1), MakeFakeCase("good")});
  EXPECT_EQ(FakeWorkload::built() - built, 1 + kRepetitions);
  std::vector<std::string> errors;
  for (const Row& run : collector_.runs) {
    if (run.benchmark_name() == std::string("bad") + kSuffix) {
      errors.push_back(ErrorOf(run));
    } else {
      EXPECT_EQ(ErrorOf(run), "") << "the sweep does not go on";
    }
  }
  // Some versions of Google Benchmark stop repeating a failed case.
  ASSERT_FALSE(errors.empty());
  EXPECT_THAT(errors, testing::Each("failure 1"));
}

// Up to 1.9.5 Google Benchmark crashes if only some repetitions fail before
// their loop: reaching the end is half of the test.
TEST_F(SessionTest, AFailureInALaterRepetitionIsFinalToo) {
  for (const int nth : {2, 3}) {
    benchmark::ClearRegisteredBenchmarks();
    collector_.runs.clear();
    const int built = FakeWorkload::built();
    RunCases({FailingFrom("late", nth), MakeFakeCase("good")});
    EXPECT_EQ(FakeWorkload::built() - built, nth + kRepetitions);
    const CaseOutcome* failure = session_->FailureOf("late");
    ASSERT_NE(failure, nullptr);
    EXPECT_EQ(failure->reason, "failure " + std::to_string(nth));
    ASSERT_THAT(collector_.runs, SizeIs(testing::Ge(2U)));
    EXPECT_EQ(ErrorOf(collector_.runs[0]), "");
    EXPECT_EQ(ErrorOf(collector_.runs.back()), "") << "the good case is last";
  }
}

TEST_F(SessionTest, FailureOfTellsSkippedFromWrongAndUnknownFromGood) {
  Case skipped = MakeFakeCase("skipped", {}, {.predicted_peak_bytes = 77});
  skipped.unavailable = "needs a GPU";
  RunCases({MakeFakeCase("good"), skipped, FailingFrom("bad", 1)});
  EXPECT_EQ(session_->FailureOf("good"), nullptr);
  EXPECT_EQ(session_->FailureOf("no such case"), nullptr);
  const CaseOutcome* skip = session_->FailureOf("skipped");
  ASSERT_NE(skip, nullptr);
  EXPECT_EQ(skip->kind, CaseOutcome::Kind::kSkipped);
  EXPECT_EQ(skip->reason, "needs a GPU");
  EXPECT_EQ(skip->predicted_peak_bytes, 77);
  const CaseOutcome* error = session_->FailureOf("bad");
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->kind, CaseOutcome::Kind::kError);
}

TEST_F(SessionTest, RawSamplesAreLoggedPerRepetition) {
  const std::string path = testing::TempDir() + "session_test_samples.jsonl";
  OpenLog(path);
  RunCases({FailingFrom("b", 2), MakeFakeCase("a")});
  EXPECT_TRUE(session_->sample_status().ok()) << session_->sample_status();
  const auto line = [](const std::string& name, int repetition) {
    return AllOf(HasSubstr("\"name\":\"" + name + "\""),
                 HasSubstr("\"repetition\":" + std::to_string(repetition)));
  };
  EXPECT_THAT(Lines(path), ElementsAre(line("b", 0), line("a", 0), line("a", 1),
                                       line("a", 2)));
  std::remove(path.c_str());
}

TEST_F(SessionTest, AFullDiskIsRememberedAndTheRowsAreKept) {
  OpenLog("/dev/full");
  RunCases({MakeFakeCase("a")});
  EXPECT_FALSE(session_->sample_status().ok());
  ASSERT_THAT(collector_.runs, SizeIs(kRepetitions));
  EXPECT_EQ(ErrorOf(collector_.runs.back()), "");
}

TEST_F(SessionTest, WithoutALogNothingIsMissed) {
  RunCases({MakeFakeCase("a")});
  EXPECT_TRUE(session_->sample_status().ok());
  EXPECT_THAT(collector_.aggregates, testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace trainbench
