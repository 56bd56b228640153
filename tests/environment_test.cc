// SPDX-License-Identifier: MIT

#include "fixtures/environment.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/cuda_support.h"

namespace trainbench {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAreArray;
using ::testing::Key;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::Pair;

using Context = std::vector<std::pair<std::string, std::string>>;

class EnvironmentTest : public testing::Test {
 protected:
  Context Describe() const {
    return DescribeEnvironment(options_, device_, command_line_);
  }
  std::map<std::string, std::string> Values() const {
    const Context context = Describe();
    const std::map<std::string, std::string> values(context.begin(),
                                                    context.end());
    EXPECT_EQ(values.size(), context.size()) << "a key occurs twice";
    return values;
  }

  RunOptions options_;
  Device device_ = *OpenDevice("cpu");
  std::vector<std::string> command_line_ = {"trainbench", "--suite=smoke"};
};

TEST_F(EnvironmentTest, KeysAreInTheDocumentedOrder) {
  device_.clock_mhz = 1;
  device_.last_level_cache_bytes = 1;
  std::vector<std::string> expected = {"git_revision",
                                       "git_dirty",
                                       "command_line",
                                       "suite",
                                       "suite_version",
                                       "seed",
                                       "threads",
                                       "dtype_policy",
                                       "device",
                                       "device_kind",
                                       "device_memory_bytes",
                                       "device_cores",
                                       "device_clock_mhz",
                                       "last_level_cache_bytes",
                                       "native_bf16",
                                       "cpu_model",
                                       "memory_bytes",
                                       "os",
                                       "torch",
                                       "compiler"};
  for (const auto& [key, value] : CudaVersions()) expected.push_back(key);
  std::vector<std::string> keys;
  for (const auto& [key, value] : Describe()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAreArray(expected));
}

TEST_F(EnvironmentTest, VersionsOfADriverNeedAGpu) {
  const std::map<std::string, std::string> versions = CudaVersions();
#ifdef TRAINBENCH_CUDA
  EXPECT_THAT(versions,
              Contains(Pair("cuda_runtime", MatchesRegex("[0-9]+\\.[0-9]+"))));
  EXPECT_THAT(versions, Contains(Key("nccl")));
#endif
  if (CudaDeviceCount() == 0) {
    for (const char* key : {"cuda_driver", "cudnn", "driver"}) {
      EXPECT_THAT(versions, Not(Contains(Key(key))));
    }
  }
}

TEST_F(EnvironmentTest, ValuesAreThoseOfTheRun) {
  options_.suite = Suite::kSmoke;
  options_.seed = 7;
  device_.name = "A device";
  device_.cores = 12;
  device_.memory_bytes = int64_t{1} << 40;
  device_.native_bf16 = true;
  const auto values = Values();
  EXPECT_THAT(values, Contains(Pair("suite", "smoke")));
  EXPECT_THAT(values, Contains(Pair("seed", "7")));
  EXPECT_THAT(values,
              Contains(Pair("command_line", "trainbench --suite=smoke")));
  EXPECT_THAT(values, Contains(Pair("device", "A device")));
  EXPECT_THAT(values, Contains(Pair("device_kind", "cpu")));
  EXPECT_THAT(values, Contains(Pair("device_cores", "12")));
  EXPECT_THAT(values, Contains(Pair("device_memory_bytes", "1099511627776")));
  EXPECT_THAT(values, Contains(Pair("native_bf16", "true")));
  EXPECT_THAT(values, Contains(Pair("os", MatchesRegex("Linux .*"))));
  EXPECT_THAT(values, Contains(Pair("torch", MatchesRegex("2\\..*"))));
}

TEST_F(EnvironmentTest, ThreadsAreThoseInUseNotThoseAskedFor) {
  const int saved = at::get_num_threads();
  options_.threads = 0;
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    EXPECT_THAT(Values(), Contains(Pair("threads", std::to_string(threads))));
  }
  at::set_num_threads(saved);
}

TEST_F(EnvironmentTest, TheRevisionIsAWholeHash) {
  const auto values = Values();
  const std::string& revision = values.at("git_revision");
  if (revision != "unknown") {
    EXPECT_EQ(revision.size(), 40U);
    EXPECT_EQ(revision.find_first_not_of("0123456789abcdef"), std::string::npos)
        << revision;
  }
  EXPECT_THAT(values.at("git_dirty"), AnyOf("true", "false"));
}

TEST_F(EnvironmentTest, WhatIsNotKnownIsLeftOut) {
  for (const auto& [key, value] : Describe()) EXPECT_NE(value, "") << key;
  device_ = Device();  // knows nothing of itself
  command_line_.clear();
  const Context context = Describe();
  for (const auto& [key, value] : context) EXPECT_NE(value, "") << key;
  for (const char* key :
       {"device", "device_memory_bytes", "device_cores", "device_clock_mhz",
        "last_level_cache_bytes", "command_line"}) {
    EXPECT_THAT(context, Not(Contains(Key(key))));
  }
}

}  // namespace
}  // namespace trainbench
