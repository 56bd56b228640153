// SPDX-License-Identifier: MIT

#include "fixtures/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace trainbench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A limit that no test is meant to reach.
constexpr std::chrono::milliseconds kPlenty = std::chrono::minutes(5);
// Long enough for a shell to start on a busy machine.
constexpr std::chrono::milliseconds kShort = std::chrono::seconds(2);

ChildResult Shell(const std::string& script,
                  std::chrono::milliseconds timeout = kPlenty,
                  const std::vector<std::string>& environment = {}) {
  const auto result = RunChild({"/bin/sh", "-c", script}, timeout, environment);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.value_or(ChildResult());
}

int OpenFiles() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<int>(std::distance(begin(files), end(files)));
}

bool HasChildren() {
  return ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD;
}

// While it lives, orphaned grandchildren become children of this process,
// which so can see how they ended.
class Subreaper {
 public:
  Subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~Subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }

  // Waits for the end of `pid` and returns the signal that ended it, or 0.
  static int SignalOf(pid_t pid) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
};

TEST(RunChildTest, ReportsSuccessAndBothStreams) {
  const ChildResult result = Shell("echo out; echo err >&2");
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
}

TEST(RunChildTest, ReportsTheExitCode) {
  const ChildResult result = Shell("exit 3");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.timed_out);
  EXPECT_FALSE(result.ok());
}

TEST(RunChildTest, ReportsTheSignal) {
  const ChildResult result = Shell("kill -SEGV $$");
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_FALSE(result.timed_out);
  EXPECT_FALSE(result.ok());
}

TEST(RunChildTest, PassesArgumentsAsTheyAre) {
  const auto result =
      RunChild({"/bin/echo", "two words", "", "$HOME *"}, kPlenty);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->output, "two words  $HOME *\n");
}

TEST(RunChildTest, AddsToTheEnvironment) {
  ::setenv("TRAINBENCH_KEPT", "kept", 1);
  ::setenv("TRAINBENCH_REPLACED", "old", 1);
  const ChildResult shell =
      Shell("echo $TRAINBENCH_KEPT $TRAINBENCH_REPLACED $TRAINBENCH_NEW",
            kPlenty, {"TRAINBENCH_REPLACED=new", "TRAINBENCH_NEW=a=b"});
  EXPECT_EQ(shell.output, "kept new a=b\n");
  // Programs differ in which of two equal names they take; a shell hides it.
  const auto result = RunChild({"env"}, kPlenty, {"TRAINBENCH_REPLACED=new"});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->output, Not(HasSubstr("TRAINBENCH_REPLACED=old")));
  EXPECT_STREQ(std::getenv("TRAINBENCH_REPLACED"), "old");
  EXPECT_EQ(std::getenv("TRAINBENCH_NEW"), nullptr);
  ::unsetenv("TRAINBENCH_KEPT");
  ::unsetenv("TRAINBENCH_REPLACED");
}

TEST(RunChildTest, GivesTheChildNoInput) {
  EXPECT_EQ(Shell("cat; readlink /proc/$$/fd/0").output, "/dev/null\n");
}

TEST(RunChildTest, KeepsItsEndsOfThePipesFromTheChild) {
  // The read end has the same name as the write end, which is the stdout.
  EXPECT_EQ(Shell("readlink /proc/$$/fd/* |"
                  "grep -cF \"$(readlink /proc/$$/fd/1)\"")
                .output,
            "1\n");
}

TEST(RunChildTest, WorksWithoutStandardStreamsOfOurOwn) {
  const pid_t closed = ::fork();
  if (closed == 0) {
    for (const int stream : {0, 1, 2}) ::close(stream);
    const ChildResult result = Shell("cat; echo out; echo err >&2");
    ::_exit(result.output == "out\n" && result.errors == "err\n" ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(closed, &status, 0), closed);
  EXPECT_EQ(status, 0);
}

TEST(RunChildTest, DrainsMoreThanAPipeHolds) {
  const ChildResult result = Shell(
      "head -c 3000000 /dev/zero; head -c 4000000 /dev/zero >&2;"
      "head -c 3000000 /dev/zero");
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.output.size(), 6'000'000);
  EXPECT_EQ(result.errors.size(), 4'000'000);
}

TEST(RunChildTest, WaitsForAChildThatHasClosedItsStreams) {
  EXPECT_EQ(Shell("exec >&- 2>&-; sleep 0.1; exit 4").exit_code, 4);
}

TEST(RunChildTest, KillsAChildThatTakesTooLong) {
  const ChildResult result = Shell("echo begun; exec sleep 600", kShort);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.output, "begun\n") << "what came before is kept";
}

TEST(RunChildTest, KillsAtOnceIfThereIsNoTime) {
  for (const int milliseconds : {0, -1}) {
    const ChildResult result =
        Shell("sleep 600", std::chrono::milliseconds(milliseconds));
    EXPECT_TRUE(result.timed_out);
  }
  EXPECT_FALSE(HasChildren());
}

TEST(RunChildTest, TakesTheLongestTimeout) {
  EXPECT_TRUE(Shell("true", std::chrono::milliseconds::max()).ok());
}

TEST(RunChildTest, ATimeoutKillsGrandchildrenToo) {
  const Subreaper reaper;
  const ChildResult result = Shell("sleep 600 & echo $!; wait", kShort);
  EXPECT_TRUE(result.timed_out);
  const pid_t grandchild = std::stoi(result.output);
  EXPECT_EQ(reaper.SignalOf(grandchild), SIGKILL);
  EXPECT_EQ(::kill(grandchild, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(RunChildTest, NeitherWaitsForNorLeavesGrandchildren) {
  const Subreaper reaper;
  // The grandchild keeps both streams open.
  const ChildResult result = Shell("sleep 600 & echo $!");
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(reaper.SignalOf(std::stoi(result.output)), SIGKILL);
}

// Out of the group, so that only the pipes it holds could be waited for.
TEST(RunChildTest, DoesNotWaitForADaemonNorKeepItsPipes) {
  const Subreaper reaper;
  const int before = OpenFiles();
  const ChildResult result = Shell("setsid sh -c 'sleep 600 & echo $!'; true");
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(OpenFiles(), before);
  const pid_t daemon = std::stoi(result.output);
  EXPECT_EQ(::kill(daemon, SIGTERM), 0);
  EXPECT_EQ(reaper.SignalOf(daemon), SIGTERM);
}

// Runs `sleep` in a child of a child, and returns their process numbers.
class Orphan {
 public:
  Orphan() {
    std::string name = ::testing::TempDir() + "child_process_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    const std::string fifo = folder_ / "pid";
    EXPECT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    parent_ = ::fork();
    if (parent_ == 0) {
      const auto result = RunChild(
          {"/bin/sh", "-c", "echo $$ > " + fifo + "; exec sleep 600"}, kPlenty);
      ::_exit(result.ok() ? 0 : 1);
    }
    std::ifstream(fifo) >> child_;  // blocks until the child has begun
  }
  ~Orphan() { std::filesystem::remove_all(folder_); }

  pid_t parent() const { return parent_; }
  pid_t child() const { return child_; }

 private:
  std::filesystem::path folder_;
  pid_t parent_ = -1;
  pid_t child_ = -1;
};

TEST(RunChildTest, TheChildDiesWithItsParent) {
  const Subreaper reaper;
  const Orphan orphan;
  ::kill(orphan.parent(), SIGKILL);
  EXPECT_EQ(reaper.SignalOf(orphan.parent()), SIGKILL);
  EXPECT_EQ(reaper.SignalOf(orphan.child()), SIGKILL);
}

TEST(RunChildTest, LeavesNoZombieAndNoOpenFile) {
  const int before = OpenFiles();
  Shell("exit 1");
  Shell("kill -9 $$");
  Shell("sleep 600", std::chrono::milliseconds(0));
  EXPECT_FALSE(RunChild({"/no/such/program"}, kPlenty).ok());
  EXPECT_FALSE(RunChild({}, kPlenty).ok());
  EXPECT_FALSE(HasChildren());
  EXPECT_EQ(OpenFiles(), before);
}

TEST(RunChildTest, NamesAProgramThatIsMissing) {
  const auto result = RunChild({"/no/such/program", "--help"}, kPlenty);
  ASSERT_TRUE(absl::IsNotFound(result.status())) << result.status();
  EXPECT_THAT(std::string(result.status().message()),
              AllOf(HasSubstr("/no/such/program"),
                    HasSubstr("No such file or directory")));
}

TEST(RunChildTest, NamesAProgramThatMayNotBeExecuted) {
  const auto result = RunChild({"/dev/null"}, kPlenty);
  ASSERT_TRUE(absl::IsNotFound(result.status())) << result.status();
  EXPECT_THAT(std::string(result.status().message()),
              AllOf(HasSubstr("/dev/null"), HasSubstr("Permission denied")));
}

TEST(RunChildTest, RefusesAnEmptyCommand) {
  EXPECT_TRUE(absl::IsInvalidArgument(RunChild({}, kPlenty).status()));
}

TEST(LastWordsTest, AreTheLastLineOfStderrElseOfStdout) {
  ChildResult result;
  EXPECT_EQ(result.LastWords(), "");
  result.output = "first\n  last of output";
  EXPECT_EQ(result.LastWords(), "  last of output");
  result.errors = " \n\n";
  EXPECT_EQ(result.LastWords(), "  last of output");
  result.errors = "terminate called\n  what(): out of memory\r\n\n \n";
  EXPECT_EQ(result.LastWords(), "  what(): out of memory");
}

TEST(OwnBinaryTest, IsThisTest) {
  EXPECT_TRUE(std::filesystem::equivalent(OwnBinary(), "/proc/self/exe"));
  const auto result = RunChild({OwnBinary(), "--gtest_list_tests"}, kPlenty);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->output, HasSubstr("OwnBinaryTest."));
}

}  // namespace
}  // namespace trainbench
