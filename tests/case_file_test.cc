// SPDX-License-Identifier: MIT

#include "fixtures/case_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace trainbench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CaseFileTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }

  const fs::path root_ = fs::temp_directory_path() /
                         ("trainbench_case_file_" + std::to_string(getpid()));
};

TEST_F(CaseFileTest, NamesAFileInADirectoryThatItMakes) {
  const fs::path directory = root_ / "deep" / "traces";
  for (int again = 0; again < 2; ++again) {
    const auto path =
        CaseFile(directory.string(), "breakdown/tiny/fp32/seq:128", ".json");
    ASSERT_TRUE(path.ok()) << path.status();
    EXPECT_EQ(*path, (directory / "breakdown_tiny_fp32_seq_128.json").string());
    EXPECT_TRUE(std::ofstream(*path) << "content");
  }
}

TEST_F(CaseFileTest, WithoutADirectoryThereIsNoFile) {
  const auto path = CaseFile("", "breakdown/tiny", ".json");
  ASSERT_TRUE(path.ok());
  EXPECT_EQ(*path, "");
}

TEST_F(CaseFileTest, ADirectoryThatCannotBeMadeIsAnErrorThatNamesIt) {
  const fs::path file = root_ / "file";
  std::ofstream(file.string()) << "in the way";
  const std::string directory = (file / "traces").string();
  const auto path = CaseFile(directory, "breakdown/tiny", ".json");
  ASSERT_EQ(path.status().code(), absl::StatusCode::kUnknown);
  EXPECT_THAT(std::string(path.status().message()), HasSubstr(directory));
}

TEST(CheckWritableDirectoryTest, MakesTheDirectoryOrNamesIt) {
  const std::string directory = testing::TempDir() + "case_file_writable/a/b";
  EXPECT_TRUE(CheckWritableDirectory(directory).ok());
  EXPECT_TRUE(std::filesystem::is_directory(directory));
  EXPECT_TRUE(CheckWritableDirectory("").ok());
  EXPECT_THAT(std::string(CheckWritableDirectory("/proc/nope").message()),
              testing::HasSubstr("/proc/nope"));
  std::filesystem::remove_all(testing::TempDir() + "case_file_writable");
}

}  // namespace
}  // namespace trainbench
