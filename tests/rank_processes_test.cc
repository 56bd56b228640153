// SPDX-License-Identifier: MIT

#include "fixtures/rank_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

namespace trainbench {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Runs a shell script as each of two ranks.
absl::StatusOr<std::vector<ChildResult>> RunScript(
    const std::string& script, milliseconds timeout = milliseconds(20000)) {
  return RunRanks({.argv = {"/bin/sh", "-c", script},
                   .ranks = 2,
                   .timeout = timeout,
                   .grace = milliseconds(300)});
}

std::string Error(const std::string& script,
                  milliseconds timeout = milliseconds(20000)) {
  return std::string(RunScript(script, timeout).status().message());
}

constexpr const char* kTired = "echo 'Timed out waiting 9ms for recv' >&2;";

TEST(RankProcessesTest, EveryRankKnowsItsPlace) {
  const auto ranks = RunScript(
      "echo $RANK of $WORLD_SIZE, local $LOCAL_RANK of $LOCAL_WORLD_SIZE");
  ASSERT_TRUE(ranks.ok()) << ranks.status();
  EXPECT_EQ((*ranks)[0].LastOutputLine(), "0 of 2, local 0 of 2");
  EXPECT_EQ((*ranks)[1].LastOutputLine(), "1 of 2, local 1 of 2");
}

TEST(RankProcessesTest, TheyShareAFileThatDoesNotOutliveTheCall) {
  const auto ranks =
      RunScript("test -e $TRAINBENCH_STORE && echo $TRAINBENCH_STORE");
  ASSERT_TRUE(ranks.ok()) << ranks.status();
  const std::string path = (*ranks)[0].LastOutputLine();
  EXPECT_EQ(path, (*ranks)[1].LastOutputLine());
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(RankProcessesTest, ARankThatFailsIsNamedByItsLastWords) {
  EXPECT_EQ(Error("test $RANK = 0 || { echo no more >&2; exit 3; }; sleep 60"),
            "rank 1: no more");
  EXPECT_EQ(Error("test $RANK = 0 || exit 3; sleep 60"),
            "rank 1: ended with status 3 and said nothing");
}

TEST(RankProcessesTest, WhoKnowsWhoseFaultItIsIsBelieved) {
  EXPECT_EQ(Error("test $RANK = 1 || { echo rank 1: no more >&2; exit 1; }"),
            "rank 1: no more");
}

TEST(RankProcessesTest, ASignalIsNamed) {
  EXPECT_EQ(Error("test $RANK = 0 || { echo here >&2; kill -KILL $$; }"),
            "rank 1 was ended by signal 9 (Killed); last words: here");
}

// Rank 0 notices first, but rank 1 has the reason.
TEST(RankProcessesTest, ASymptomIsNotTheReason) {
  EXPECT_EQ(Error("if test $RANK = 0; then echo Connection closed by peer >&2; "
                  "else sleep 0.1; echo no memory >&2; fi; exit 1"),
            "rank 1: no memory");
}

TEST(RankProcessesTest, WhoIsWaitedForInVainIsAtFault) {
  EXPECT_THAT(
      Error(std::string("echo busy >&2; test $RANK = 1 || { ") + kTired +
            " exit 1; }; sleep 60"),
      AllOf(StartsWith("rank 1 did not answer; last words: busy; rank 0: "),
            HasSubstr("Timed out")));
}

// As NCCL's watchdog does.
TEST(RankProcessesTest, WhoIsAbortedForWaitingIsNotAtFault) {
  EXPECT_THAT(Error(std::string("echo busy >&2; test $RANK = 1 || { ") +
                    kTired + " echo frame 7 >&2; kill -ABRT $$; }; sleep 60"),
              StartsWith("rank 1 did not answer; last words: busy"));
}

TEST(RankProcessesTest, AllMayHang) {
  EXPECT_THAT(Error("sleep 60", milliseconds(300)),
              AllOf(HasSubstr("rank 0 did not answer; it said nothing"),
                    HasSubstr("rank 1 did not answer"),
                    HasSubstr("killed after 0.3 s")));
}

TEST(RankProcessesTest, WhatCannotRunIsRefused) {
  EXPECT_EQ(RunRanks({.argv = {}, .ranks = 2}).status().message(),
            "no program");
  EXPECT_EQ(RunRanks({.argv = {"true"}, .ranks = 0}).status().message(),
            "0 ranks; allowed: 1 or more");
  EXPECT_EQ(
      RunRanks({.argv = {"/no/such/program"}, .ranks = 2}).status().code(),
      absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace trainbench
