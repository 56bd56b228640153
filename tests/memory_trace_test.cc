// SPDX-License-Identifier: MIT

#include "fixtures/memory_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "fixtures/write_file.h"

namespace trainbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

namespace fs = std::filesystem;

constexpr char kName[] = "memory/tiny/fp32/train_step/batch:4/seq:128";

std::string Read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class MemoryTraceTest : public testing::Test {
 protected:
  MemoryTraceTest() { fs::remove_all(directory_); }
  ~MemoryTraceTest() override { fs::remove_all(directory_); }

  absl::StatusOr<AllocationTimeline> Record(const fs::path& directory) {
    return RecordAllocations(
        recorder_,
        [](PhaseObserver& phases) {
          phases.Enter(Phase::kForward);
          const at::Tensor a = at::ones({1000});
          phases.Enter(Phase::kLoss);
          const at::Tensor b = a + a;
        },
        directory.string(), kName);
  }

  const fs::path directory_ =
      fs::path(testing::TempDir()) /
      testing::UnitTest::GetInstance()->current_test_info()->name();
  AllocationRecorder recorder_{c10::Device(c10::kCPU)};
};

TEST_F(MemoryTraceTest, TheCsvHoldsTheTimeline) {
  const fs::path directory = directory_ / "new" / "folders";
  const auto timeline = Record(directory);
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  ASSERT_THAT(timeline->events, SizeIs(4));
  const std::string csv =
      Read(directory / "memory_tiny_fp32_train_step_batch_4_seq_128.csv");
  std::vector<std::string> lines = absl::StrSplit(csv, '\n', absl::SkipEmpty());
  ASSERT_THAT(lines, SizeIs(5));
  EXPECT_EQ(lines[0], "time_us,live_bytes,event,bytes,operator,phase");
  for (std::size_t i = 0; i < 4; ++i) {
    const AllocationEvent& event = timeline->events[i];
    const std::vector<std::string> fields = absl::StrSplit(lines[i + 1], ',');
    ASSERT_THAT(fields, SizeIs(6)) << lines[i + 1];
    double time_us = -1;
    int64_t live = -1, bytes = -1;
    ASSERT_TRUE(absl::SimpleAtod(fields[0], &time_us));
    ASSERT_TRUE(absl::SimpleAtoi(fields[1], &live));
    ASSERT_TRUE(absl::SimpleAtoi(fields[3], &bytes));
    EXPECT_NEAR(time_us, event.time_us, 0.001);
    EXPECT_EQ(live, event.live_bytes);
    EXPECT_EQ(fields[2] == "free" ? -bytes : bytes, event.bytes);
    EXPECT_EQ(fields[4], event.op);
    EXPECT_EQ(fields[5], PhaseName(*event.phase));
  }
  EXPECT_THAT(lines[1], HasSubstr(",4000,alloc,4000,aten::ones,forward"));
  EXPECT_THAT(lines[2], HasSubstr(",8000,alloc,4000,aten::add,loss"));
}

TEST_F(MemoryTraceTest, WithoutADirectoryNothingIsWritten) {
  const auto timeline = Record("");
  ASSERT_TRUE(timeline.ok());
  EXPECT_THAT(timeline->events, SizeIs(4));
  EXPECT_FALSE(fs::exists(directory_));
}

TEST_F(MemoryTraceTest, ADirectoryThatCannotBeMadeIsNamed) {
  ASSERT_TRUE(WriteFile(directory_.string(), "a file").ok());
  const auto timeline = Record(directory_);
  ASSERT_FALSE(timeline.ok());
  EXPECT_THAT(std::string(timeline.status().message()),
              HasSubstr("directory " + directory_.string()));
  EXPECT_EQ(Read(directory_), "a file");
}

TEST_F(MemoryTraceTest, AFullDiskIsAnErrorThatNamesTheFile) {
  const absl::Status status = WriteFile("/dev/full", "text");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("/dev/full"));
  EXPECT_TRUE(fs::exists("/dev/full"));
}

TEST_F(MemoryTraceTest, AFileIsReplaced) {
  const std::string path = (directory_ / "file").string();
  ASSERT_TRUE(WriteFile(path, "a long text").ok());
  ASSERT_TRUE(WriteFile(path, "short").ok());
  EXPECT_EQ(Read(path), "short");
}

TEST(ToCsvTest, QuotesWhatWouldBreakALine) {
  AllocationTimeline timeline;
  timeline.events = {{1.5, 8, 8, "a \"b\", c", Phase::kBackward},
                     {2.25, -8, 0, "", std::nullopt}};
  EXPECT_EQ(ToCsv(timeline),
            "time_us,live_bytes,event,bytes,operator,phase\n"
            "1.500,8,alloc,8,\"a \"\"b\"\", c\",backward\n"
            "2.250,0,free,8,,none\n");
}

}  // namespace
}  // namespace trainbench
