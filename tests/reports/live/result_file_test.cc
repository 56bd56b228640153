// SPDX-License-Identifier: MIT

#include "reports/live/result_file.h"

#include <benchmark/benchmark.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/live/row_counter.h"
#include "tests/support/benchmark_runs.h"

namespace trainbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = RowStatus::Kind;
using Context = benchmark::BenchmarkReporter::Context;

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void WriteFile(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::vector<std::string> Names(const json& rows) {
  std::vector<std::string> names;
  for (const json& row : rows) names.push_back(row.at("name"));
  return names;
}

class ResultFileTest : public ::testing::Test {
 protected:
  ResultFileTest() {
    std::string pattern = testing::TempDir() + "/result_file_XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    dir_ = pattern;
    path_ = dir_ / "out.json";
  }
  ~ResultFileTest() override { fs::remove_all(dir_); }

  StatusLookup Lookup() {
    return [this](const std::string& name) {
      const auto it = statuses_.find(name);
      return it == statuses_.end() ? RowStatus{} : it->second;
    };
  }

  json Read() { return json::parse(ReadFile(path_)); }

  fs::path dir_;
  fs::path path_;
  std::map<std::string, RowStatus> statuses_;
  std::ostringstream err_;
};

TEST_F(ResultFileTest, IsADocumentAfterEveryCall) {
  statuses_["big"] = {Kind::kSkipped, "needs 80 GiB", 85'899'345'920};
  statuses_["bad"] = {Kind::kError, "wrong \"result\"\nhere", {}};
  ResultFile file(path_, Lookup(), &err_);
  ASSERT_TRUE(file.ReportContext(Context()));
  EXPECT_TRUE(Read().at("context").contains("num_cpus"));
  EXPECT_THAT(Read().at("benchmarks"), IsEmpty());
  file.ReportRuns({MakeFailed("big")});
  EXPECT_THAT(Read().at("benchmarks"), IsEmpty());
  file.ReportRuns({MakeRun("a/seq:1")});
  EXPECT_THAT(Names(Read().at("benchmarks")), ElementsAre("a/seq:1"));
  file.ReportRuns({MakeFailed("bad")});
  file.ReportRuns({});
  file.ReportRuns({MakeRun("b"), MakeRun("c")});
  json document = Read();
  EXPECT_THAT(Names(document.at("benchmarks")),
              ElementsAre("a/seq:1", "b", "c"));
  EXPECT_EQ(document.at("benchmarks").at(0).at("run_name"), "a/seq:1");
  EXPECT_EQ(document.at("skipped"),
            json::parse(R"([{"name": "big", "repetition_index": 0,
                             "reason": "needs 80 GiB",
                             "predicted_peak_bytes": 85899345920}])"));
  EXPECT_EQ(document.at("errors"),
            json::parse(R"([{"name": "bad", "repetition_index": 0,
                             "reason": "wrong \"result\"\nhere"}])"));
  EXPECT_EQ(document.at("complete"), false);
  file.Finalize();
  EXPECT_EQ(Read().at("complete"), true);
  EXPECT_TRUE(file.status().ok());
  EXPECT_FALSE(fs::exists(file.TempPath()));
}

TEST_F(ResultFileTest, EntriesOfAnEarlierResultComeFirst) {
  statuses_["bad"] = {Kind::kError, "wrong", {}};
  ResultFile file(path_, Lookup(), &err_);
  file.Keep({.benchmarks = {R"({"name": "old"})", R"({"name": "older"})"},
             .skipped = {R"({"name": "big"})"},
             .errors = {R"({"name": "worse"})"}});
  file.ReportContext(Context());
  EXPECT_THAT(Names(Read().at("benchmarks")), ElementsAre("old", "older"));
  file.ReportRuns({MakeFailed("bad")});
  EXPECT_THAT(Names(Read().at("benchmarks")), ElementsAre("old", "older"));
  file.ReportRuns({MakeRun("a")});
  file.ReportRuns({MakeRun("b")});
  file.Finalize();
  const json document = Read();
  EXPECT_THAT(Names(document.at("benchmarks")),
              ElementsAre("old", "older", "a", "b"));
  EXPECT_THAT(Names(document.at("skipped")), ElementsAre("big"));
  EXPECT_THAT(Names(document.at("errors")), ElementsAre("worse", "bad"));
  EXPECT_EQ(document.at("complete"), true);
}

TEST_F(ResultFileTest, TablesAreListsWhoseEntriesNameTheirCase) {
  statuses_["a"].tables = {{"profiles", R"({"passes": 6})"},
                           {"timelines", R"({"peak": 1})"}};
  statuses_["b"].tables = {{"profiles", R"({"passes": 7})"}};
  statuses_["bad"] = {Kind::kError, "wrong", {}};
  statuses_["bad"].tables = {{"profiles", "{}"}};
  ResultFile file(path_, Lookup(), &err_);
  KeptEntries kept;
  kept.tables["profiles"] = {R"({"case": "old"})"};
  file.Keep(kept);
  file.ReportContext(Context());
  EXPECT_EQ(Read().at("profiles"), json::parse(R"([{"case": "old"}])"));
  file.ReportRuns({MakeRun("a"), MakeRun("a")});
  file.ReportRuns({MakeRun("b")});
  file.ReportRuns({MakeFailed("bad")});
  file.Finalize();
  EXPECT_EQ(Read().at("profiles"),
            json::parse(R"([{"case": "old"}, {"case": "a", "passes": 6},
                            {"case": "b", "passes": 7}])"));
  EXPECT_EQ(Read().at("timelines"),
            json::parse(R"([{"case": "a", "peak": 1}])"));
}

TEST_F(ResultFileTest, IsADocumentWhenEveryRowIsSkipped) {
  statuses_["a"] = {Kind::kSkipped, "needs a GPU", {}};
  ResultFile file(path_, Lookup(), &err_);
  file.ReportContext(Context());
  file.ReportRuns({MakeFailed("a")});
  file.Finalize();
  EXPECT_THAT(Read().at("benchmarks"), IsEmpty());
  EXPECT_THAT(Names(Read().at("skipped")), ElementsAre("a"));
  EXPECT_THAT(Read().at("errors"), IsEmpty());
}

TEST_F(ResultFileTest, GoogleBenchmarkCanFailACaseOnItsOwn) {
  ResultFile file(path_, Lookup(), &err_);
  file.ReportContext(Context());
  file.ReportRuns({MakeFailed("a"), MakeRun("zero", 0)});
  EXPECT_EQ(Read().at("errors").at(0).at("reason"), "from Google Benchmark");
  EXPECT_EQ(Read().at("errors").at(1).at("reason"),
            "no valid time was recorded");
}

TEST_F(ResultFileTest, DropsWhatIsNotFinite) {
  BenchmarkRun run = MakeRun("a");
  run.counters = {{"inf", std::numeric_limits<double>::infinity()},
                  {"nan", std::numeric_limits<double>::quiet_NaN()},
                  {"flops", 1e9}};
  BenchmarkRun cv = MakeAggregate("a", "cv");
  cv.cpu_accumulated_time = std::nan("");
  BenchmarkRun empty = MakeAggregate("a", "stddev");
  empty.real_accumulated_time = std::nan("");
  ResultFile file(path_, Lookup(), &err_);
  file.ReportContext(Context());
  file.ReportRuns({run, cv, empty});
  const json rows = Read().at("benchmarks");
  EXPECT_THAT(Names(rows), ElementsAre("a", "a_cv"));
  EXPECT_EQ(rows.at(0).at("flops"), 1e9);
  EXPECT_FALSE(rows.at(0).contains("inf"));
  EXPECT_FALSE(rows.at(0).contains("nan"));
  EXPECT_EQ(rows.at(1).at("cpu_time"), 0);
}

TEST_F(ResultFileTest, ParametersAndFindingsAreObjects) {
  BenchmarkRun run = MakeRun("a");
  run.report_label = MakeLabel(
      R"([["logits", "bf16, mostly"], ["noisy", "1"], ["noisy", "2"]])");
  BenchmarkRun bare = MakeRun("b");
  bare.report_label = MakeLabel();
  ResultFile file(path_, Lookup(), &err_);
  file.ReportContext(Context());
  file.ReportRuns({run, bare, MakeRun("c")});
  const json rows = Read().at("benchmarks");
  EXPECT_EQ(rows.at(0).at("parameters"),
            json::parse(R"({"model": "tiny", "seq": 128})"));
  EXPECT_EQ(rows.at(0).at("findings"),
            json::parse(R"({"logits": "bf16, mostly", "noisy": "1 + 2"})"));
  EXPECT_FALSE(rows.at(0).contains("label"));
  EXPECT_EQ(rows.at(1).at("findings"), json::object());
  EXPECT_FALSE(rows.at(2).contains("parameters")) << "not a row of ours";
}

TEST_F(ResultFileTest, RepairsWhatJsonForbidsInStrings) {
  statuses_["bad"] = {Kind::kError, "byte \xFF, bell \x07", {}};
  BenchmarkRun run = MakeRun("a");
  run.report_label = "escape \x1b, byte \xFF, tab \t, caf\xC3\xA9";
  ResultFile file(path_, Lookup(), &err_);
  file.ReportContext(Context());
  file.ReportRuns({run, MakeFailed("bad")});
  EXPECT_EQ(Read().at("benchmarks").at(0).at("label"),
            "escape \x1b, byte \xEF\xBF\xBD, tab \t, caf\xC3\xA9");
  EXPECT_EQ(Read().at("errors").at(0).at("reason"),
            "byte \xEF\xBF\xBD, bell \x07");
}

TEST_F(ResultFileTest, AFailedCaseHasNoGoodRowAndNoAggregate) {
  statuses_["a"] = {Kind::kError, "out of memory", {}};
  BenchmarkRun second = MakeFailed("a");
  second.repetition_index = 1;
  ResultFile file(path_, Lookup(), &err_);
  file.ReportContext(Context());
  file.ReportRuns({MakeRun("a"), second});
  file.ReportRuns({MakeAggregate("a", "mean")});
  EXPECT_THAT(Read().at("benchmarks"), IsEmpty());
  ASSERT_EQ(Read().at("errors").size(), 2u);
  EXPECT_EQ(Read().at("errors").at(1).at("repetition_index"), 1);
}

TEST_F(ResultFileTest, SurvivesBeingKilled) {
  const auto run_and_die = [this] {
    ResultFile file(path_, Lookup(), &err_);
    file.ReportContext(Context());
    file.ReportRuns({MakeRun("a")});
    std::raise(SIGKILL);
  };
  EXPECT_EXIT(run_and_die(), testing::KilledBySignal(SIGKILL), "");
  EXPECT_THAT(Names(Read().at("benchmarks")), ElementsAre("a"));
  EXPECT_EQ(Read().at("complete"), false);
}

TEST_F(ResultFileTest, PrintsOnceWhenThereIsNoPath) {
  std::ostringstream out;
  ResultFile file("", Lookup(), &err_);
  file.SetOutputStream(&out);
  file.ReportContext(Context());
  file.ReportRuns({MakeRun("a")});
  EXPECT_EQ(out.str(), "");
  EXPECT_EQ(file.TempPath(), "");
  file.Finalize();
  EXPECT_THAT(Names(json::parse(out.str()).at("benchmarks")), ElementsAre("a"));
  EXPECT_TRUE(ResultFile::CheckWritable("").ok());
}

TEST_F(ResultFileTest, ReportsAFailedOpenOnceAndHealsLater) {
  ResultFile file(path_, Lookup(), &err_);
  file.ReportContext(Context());
  fs::remove_all(dir_);
  file.ReportRuns({MakeRun("a")});
  file.ReportRuns({MakeRun("b")});
  EXPECT_FALSE(file.status().ok());
  EXPECT_THAT(err_.str(), HasSubstr((dir_.filename() / "out.json").string()));
  EXPECT_THAT(err_.str(), EndsWith("No such file or directory\n"));
  EXPECT_EQ(err_.str().find('\n'), err_.str().size() - 1) << "one line";
  fs::create_directory(dir_);
  file.Finalize();
  EXPECT_TRUE(file.status().ok());
  EXPECT_THAT(Names(Read().at("benchmarks")), ElementsAre("a", "b"));
}

TEST_F(ResultFileTest, ReportsAFailedRenameAndRemovesTheTemporaryFile) {
  ResultFile file(path_, Lookup(), &err_);
  file.ReportContext(Context());
  fs::remove(path_);
  fs::create_directory(path_);
  file.ReportRuns({MakeRun("a")});
  EXPECT_FALSE(file.status().ok());
  EXPECT_THAT(err_.str(), HasSubstr(path_.string() + ": Is a directory"));
  EXPECT_FALSE(fs::exists(file.TempPath()));
}

TEST_F(ResultFileTest, NothingRunsWhenTheFirstDocumentCannotBeWritten) {
  ResultFile file(dir_ / "missing" / "out.json", Lookup(), &err_);
  EXPECT_FALSE(file.ReportContext(Context()));
  file.Finalize();
  EXPECT_FALSE(file.status().ok());
}

TEST_F(ResultFileTest, LeavesTheFileAloneWhenAnotherReporterSaidNo) {
  WriteFile(path_, "old");
  ResultFile file(path_, Lookup(), &err_);
  file.Finalize();
  EXPECT_EQ(ReadFile(path_), "old");
}

TEST_F(ResultFileTest, FollowsSymbolicLinksAndStaysPutInDirectoryChanges) {
  WriteFile(path_, "old");
  fs::create_symlink("out.json", dir_ / "latest.json");
  ResultFile file(dir_ / "latest.json", Lookup(), &err_);
  file.ReportContext(Context());
  EXPECT_TRUE(fs::is_symlink(dir_ / "latest.json"));
  EXPECT_TRUE(Read().contains("benchmarks"));
}

TEST_F(ResultFileTest, NeverReplacesADevice) {
  EXPECT_TRUE(ResultFile::CheckWritable("/dev/null").ok());
  ResultFile file("/dev/null", Lookup(), &err_);
  file.ReportContext(Context());
  file.Finalize();
  EXPECT_TRUE(file.status().ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(ResultFileTest, CheckWritableLeavesNoTrace) {
  EXPECT_TRUE(ResultFile::CheckWritable(path_).ok());
  EXPECT_TRUE(fs::is_empty(dir_));
  WriteFile(path_, "old");
  EXPECT_TRUE(ResultFile::CheckWritable(path_).ok());
  EXPECT_EQ(ReadFile(path_), "old");
}

TEST_F(ResultFileTest, CheckWritableNamesThePathAndWhatIsAllowed) {
  for (const std::string& path :
       {dir_.string(), dir_.string() + "/", dir_.string() + "/missing/out.json",
        // Refuses new files even to root.
        std::string("/proc/out.json")}) {
    const absl::Status status = ResultFile::CheckWritable(path);
    EXPECT_FALSE(status.ok()) << path;
    EXPECT_THAT(std::string(status.message()), HasSubstr("'" + path + "'"));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("existing directory that you may write to"));
  }
}

class NullReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

// As the harness does: one iteration, and a failure that is sticky and raised
// inside the loop. The host takes 1 us longer each time.
void Register(const std::string& name, int repetitions, bool fails) {
  benchmark::RegisterBenchmark(
      name.c_str(),
      [fails, host_us = 100](benchmark::State& state) mutable {
        for (auto _ : state) {
          if (fails) {
            state.SkipWithError("no reason");
            break;
          }
          state.SetIterationTime(0.002);
          state.counters["samples"] = 7;
          state.counters["launch_bound"] = 0;
          state.counters["host_us"] = ++host_us;
        }
      })
      ->UseManualTime()
      ->Iterations(1)
      ->Repetitions(repetitions)
      ->Unit(benchmark::kMicrosecond);
}

void SetFlags(const std::string& interleaving) {
  // Google Benchmark keeps a pointer to it for the context.
  static std::string& program = *new std::string("test");
  std::string out = "--benchmark_out=/dev/null";
  std::string order = "--benchmark_enable_random_interleaving=" + interleaving;
  char* argv[] = {program.data(), out.data(), order.data(), nullptr};
  int argc = 3;
  benchmark::Initialize(&argc, argv);
}

TEST_F(ResultFileTest, HoldsTheExpectationsFromTheStart) {
  ResultFile file(path_, Lookup(), &err_);
  file.State({.questions = {R"({"question": "why"})"},
              .expectations = {R"({"text": "one"})", R"({"text": "two"})"}});
  ASSERT_TRUE(file.ReportContext(Context()));
  EXPECT_EQ(Read().at("expectations").size(), 2u);
  EXPECT_EQ(Read().at("expectations").at(1).at("text"), "two");
}

TEST_F(ResultFileTest, WorksInsideGoogleBenchmark) {
  statuses_["big/seq:8"] = {Kind::kSkipped, "needs 80 GiB", {}};
  Register("tiny/seq:1", 3, /*fails=*/false);
  Register("big/seq:8", 3, /*fails=*/true);
  Register("tiny/seq:2", 1, /*fails=*/false);
  for (const char* interleaving : {"false", "true"}) {
    SetFlags(interleaving);
    NullReporter null;
    RowCounter display(null, Lookup());
    ResultFile file(path_, Lookup(), &err_);
    EXPECT_EQ(benchmark::RunSpecifiedBenchmarks(&display, &file, "seq"), 3u);
    const json document = Read();
    EXPECT_THAT(Names(document.at("benchmarks")),
                testing::UnorderedElementsAre(
                    "tiny/seq:1", "tiny/seq:1", "tiny/seq:1", "tiny/seq:1_mean",
                    "tiny/seq:1_median", "tiny/seq:1_stddev", "tiny/seq:1_cv",
                    "tiny/seq:2"));
    for (const json& row : document.at("benchmarks")) {
      EXPECT_DOUBLE_EQ(row.at("cpu_time"), row.at("host_us"));
      if (row.at("run_type") != "iteration") continue;
      EXPECT_DOUBLE_EQ(row.at("real_time"), 2000);
      EXPECT_EQ(row.at("samples"), 7);
    }
    EXPECT_EQ(document.at("skipped").size(), 3u);
    EXPECT_EQ(document.at("complete"), true);
    EXPECT_EQ(display.counts().good(), 4);
    EXPECT_EQ(display.counts().skipped(), 3);
  }
  benchmark::ClearRegisteredBenchmarks();
}

}  // namespace
}  // namespace trainbench
