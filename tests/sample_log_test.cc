// SPDX-License-Identifier: MIT

#include "fixtures/sample_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace trainbench {
namespace {

using ::nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class SampleLogTest : public ::testing::Test {
 protected:
  SampleLogTest() {
    std::string name = ::testing::TempDir() + "sample_log_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ / "samples.jsonl";
  }
  ~SampleLogTest() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> Lines() const {
    std::ifstream file(path_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

Sampling Example() {
  Sampling sampling;
  sampling.first_call.total_us = 900.5;
  sampling.warmup_us = {120, 110};
  sampling.samples = {{100.25, 3, {60, 0, 40.25, 0}}, {101, 4, {0, 0, 101, 0}}};
  sampling.stop_reason = StopReason::kWallCap;
  sampling.process_id = 4711;
  return sampling;
}

TEST_F(SampleLogTest, WritesEveryRawTime) {
  const auto log = SampleLog::Open(path_);
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_TRUE((*log)->Append("train/seq:8", 2, Example()).ok());
  ASSERT_THAT(Lines(), SizeIs(1));
  EXPECT_EQ(json::parse(Lines()[0]), json::parse(R"({
              "name": "train/seq:8", "repetition": 2, "process_id": 4711,
              "stop_reason": "wall_cap",
              "first_call_us": 900.5, "warmup_us": [120.0, 110.0],
              "samples_us": [100.25, 101.0], "host_us": [3.0, 4.0],
              "phases": {"forward": [60.0, 0.0], "backward": [40.25, 101.0]}
            })"));
}

TEST_F(SampleLogTest, KeepsTimesToTheLastBit) {
  const auto log = SampleLog::Open(path_);
  ASSERT_TRUE(log.ok()) << log.status();
  Sampling sampling;
  sampling.samples = {{0.1 + 0.2, 1.0 / 3, {}}};
  ASSERT_TRUE((*log)->Append("case", 0, sampling).ok());
  const json line = json::parse(Lines().at(0));
  EXPECT_EQ(line["samples_us"][0].get<double>(), 0.1 + 0.2);
  EXPECT_EQ(line["host_us"][0].get<double>(), 1.0 / 3);
  EXPECT_EQ(line["phases"], json::object());
}

TEST_F(SampleLogTest, NamesEveryStopReason) {
  const auto log = SampleLog::Open(path_);
  ASSERT_TRUE(log.ok()) << log.status();
  Sampling sampling;
  for (const StopReason reason :
       {StopReason::kConverged, StopReason::kSamplingTime,
        StopReason::kWallCap}) {
    sampling.stop_reason = reason;
    ASSERT_TRUE((*log)->Append("case", 0, sampling).ok());
  }
  std::vector<std::string> names;
  for (const std::string& line : Lines()) {
    names.push_back(json::parse(line)["stop_reason"]);
  }
  EXPECT_THAT(names, ElementsAre("converged", "sampling_time", "wall_cap"));
}

TEST_F(SampleLogTest, EachLineIsInTheFileAtOnce) {
  const auto log = SampleLog::Open(path_);
  ASSERT_TRUE(log.ok()) << log.status();
  for (int repetition = 0; repetition < 3; ++repetition) {
    ASSERT_TRUE((*log)->Append("case", repetition, Example()).ok());
    ASSERT_THAT(Lines(), SizeIs(repetition + 1));
    EXPECT_EQ(json::parse(Lines().back())["repetition"], repetition);
  }
}

TEST_F(SampleLogTest, ANewLogReplacesAnOldOne) {
  std::ofstream(path_) << "old\n";
  const auto log = SampleLog::Open(path_);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_THAT(Lines(), SizeIs(0));
}

TEST_F(SampleLogTest, ClosesItsFile) {
  const auto open_files = [] {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const auto before = open_files();
  ASSERT_TRUE(SampleLog::Open(path_).ok());
  EXPECT_EQ(open_files(), before);
}

TEST_F(SampleLogTest, TakesNamesThatAreNoText) {
  const auto log = SampleLog::Open(path_);
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_TRUE((*log)->Append("quote\" line\n byte\xff", 0, Example()).ok());
  ASSERT_THAT(Lines(), SizeIs(1));
  EXPECT_EQ(json::parse(Lines()[0])["name"], "quote\" line\n byte\xEF\xBF\xBD");
}

TEST_F(SampleLogTest, SaysWhichFileCannotBeOpenedAndWhy) {
  const std::string path = folder_ / "missing" / "samples.jsonl";
  const auto log = SampleLog::Open(path);
  ASSERT_FALSE(log.ok());
  EXPECT_THAT(std::string(log.status().message()),
              AllOf(HasSubstr(path), HasSubstr("No such file or directory")));
}

TEST_F(SampleLogTest, ReportsAFullDisk) {
  const auto log = SampleLog::Open("/dev/full");
  ASSERT_TRUE(log.ok()) << log.status();
  const absl::Status status = (*log)->Append("case", 0, Example());
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("/dev/full"), HasSubstr("No space left on device")));
}

// A limit on the size of files cuts a write short, as a disk that fills does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(SIG_IGN) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_;
};

TEST_F(SampleLogTest, TakesBackALineThatDoesNotFit) {
  const auto log = SampleLog::Open(path_);
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_TRUE((*log)->Append("case", 0, Example()).ok());
  const auto size = std::filesystem::file_size(path_);
  absl::Status status;
  {
    const FileSizeLimit limit(size + size / 2);
    status = (*log)->Append("case", 1, Example());
  }
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_.string()));
  EXPECT_EQ(std::filesystem::file_size(path_), size);
  EXPECT_TRUE((*log)->Append("case", 2, Example()).ok());
  ASSERT_THAT(Lines(), SizeIs(2));
  EXPECT_EQ(json::parse(Lines()[1])["repetition"], 2);
}

TEST_F(SampleLogTest, TheProcessOfEveryRankIsLogged) {
  const auto log = SampleLog::Open(path_);
  ASSERT_TRUE(log.ok()) << log.status();
  Sampling sampling = Example();
  sampling.rank_process_ids = {4711, 4712};
  ASSERT_TRUE((*log)->Append("ranks:2", 0, sampling).ok());
  EXPECT_EQ(json::parse(Lines().at(0))["rank_process_ids"],
            json::parse("[4711, 4712]"));
}

}  // namespace
}  // namespace trainbench
