// SPDX-License-Identifier: MIT
// Runs tests as the ranks of a job: a test binary starts copies of itself.

#ifndef TRAINBENCH_TESTS_SUPPORT_RANK_FIXTURE_H_
#define TRAINBENCH_TESTS_SUPPORT_RANK_FIXTURE_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_replace.h"
#include "fixtures/base/subprocess.h"
#include "fixtures/ranks/distributed_context.h"
#include "fixtures/ranks/launch_env.h"
#include "fixtures/ranks/local_launcher.h"
#include "model/distributed/comm/process_group.h"
#include "model/distributed/comm/rendezvous.h"

namespace trainbench {

// The base fixture of the suites Rank<Name>, which every rank runs. Skips the
// test in a process that is not a rank. All tests of a process share its store.
class RankTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto launch = ReadLaunchEnv(::getenv);
    ASSERT_TRUE(launch.ok()) << launch.status();
    if (!launch->has_value()) GTEST_SKIP() << "runs as a rank only";
    launch_ = **launch;
    group_ = NewGroup("main");
    ASSERT_NE(group_, nullptr);
  }

  // The parent shows stderr's last line, and LibTorch writes to stderr, too.
  static void TearDownTestSuite() {
    const auto& suite =
        *::testing::UnitTest::GetInstance()->current_test_suite();
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const ::testing::TestInfo& info = *suite.GetTestInfo(t);
      for (int i = 0; i < info.result()->total_part_count(); ++i) {
        const auto& part = info.result()->GetTestPartResult(i);
        if (!part.failed()) continue;
        std::cerr << info.name() << ": line " << part.line_number() << ": "
                  << absl::StrReplaceAll(part.message(), {{"\n", " "}}) << "\n";
        return;
      }
    }
  }

  // Returns null if the ranks do not meet.
  std::unique_ptr<ProcessGroup> NewGroup(
      const std::string& name, std::chrono::milliseconds timeout = kTimeout) {
    // Stays open: whoever closes a file last removes it, and another rank may
    // just have opened it for the next test.
    static const auto store = OpenStore(launch_, kTimeout);
    EXPECT_TRUE(store.ok()) << store.status();
    if (!store.ok()) return nullptr;
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    auto group = ProcessGroup::Join(
        SubStore(std::string(info->test_suite_name()) + "." + info->name() +
                     "." + name,
                 *store),
        GroupOptionsFor(launch_, CommBackend::kGloo, timeout));
    EXPECT_TRUE(group.ok()) << group.status();
    return group.ok() ? *std::move(group) : nullptr;
  }

  // No test should reach it, however busy the machine.
  static constexpr std::chrono::milliseconds kTimeout = std::chrono::minutes(2);
  LaunchEnv launch_;
  std::unique_ptr<ProcessGroup> group_;
};

// Runs the tests of this binary that match `filter` as `ranks` processes of one
// thread each, since attention on a CPU allocates a buffer for each thread.
inline absl::Status RunAsRanks(const std::string& filter, int ranks) {
  const auto results = LaunchLocalRanks(
      {.argv = {kOwnBinary, "--gtest_filter=" + filter,
                "--gtest_also_run_disabled_tests"},
       .ranks = ranks,
       .timeout = std::chrono::minutes(4),
       .environment = {"OMP_NUM_THREADS=1", "GTEST_TOTAL_SHARDS=1",
                       "GTEST_SHARD_INDEX=0"}});
  if (!results.ok()) return results.status();
  if (results->front().output.find("PASSED  ] 0 tests") != std::string::npos) {
    return absl::NotFoundError("no test is called " + filter);
  }
  return absl::OkStatus();
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_RANK_FIXTURE_H_
