// SPDX-License-Identifier: MIT

#include "fixtures/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace trainbench {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

absl::StatusOr<std::optional<Launch>> Read(const Variables& variables) {
  return LaunchFromEnvironment([&](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

std::string Complaint(Variables variables) {
  return std::string(Read(variables).status().message());
}

const Variables kTorchrun = {{"RANK", "5"},
                             {"WORLD_SIZE", "8"},
                             {"LOCAL_RANK", "1"},
                             {"LOCAL_WORLD_SIZE", "4"},
                             {"MASTER_ADDR", "node0"},
                             {"MASTER_PORT", "29500"},
                             {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                             {"TORCHELASTIC_RESTART_COUNT", "2"},
                             {"GLOO_SOCKET_IFNAME", "eth1"}};

Variables With(Variables variables, const std::string& name,
               const std::string& value) {
  variables[name] = value;
  return variables;
}

TEST(LaunchTest, WithoutVariablesThereIsNoLaunch) {
  const auto launch = Read({{"MASTER_PORT", "29500"}});
  ASSERT_TRUE(launch.ok());
  EXPECT_FALSE(launch->has_value());
}

TEST(LaunchTest, TorchrunsVariables) {
  const auto launch = Read(kTorchrun);
  ASSERT_TRUE(launch.ok()) << launch.status();
  const Launch& it = **launch;
  EXPECT_EQ(it.rank, 5);
  EXPECT_EQ(it.world_size, 8);
  EXPECT_EQ(it.local_rank, 1);
  EXPECT_EQ(it.local_world_size, 4);
  EXPECT_EQ(it.master_addr, "node0");
  EXPECT_EQ(it.master_port, 29500);
  EXPECT_TRUE(it.agent_serves_store);
  EXPECT_EQ(it.attempt, "2");
  EXPECT_EQ(it.network_interface, "eth1");
  EXPECT_TRUE(it.external());
}

TEST(LaunchTest, OnOneMachineTheLocalRankIsTheRank) {
  const auto launch = Read({{"RANK", "1"},
                            {"WORLD_SIZE", "2"},
                            {"MASTER_ADDR", "127.0.0.1"},
                            {"MASTER_PORT", "1"}});
  ASSERT_TRUE(launch.ok()) << launch.status();
  EXPECT_EQ((*launch)->local_rank, 1);
  EXPECT_EQ((*launch)->local_world_size, 2);
  EXPECT_FALSE((*launch)->agent_serves_store);
}

TEST(LaunchTest, ALaunchOfOneProcessIsNone) {
  const auto launch = Read({{"RANK", "0"},
                            {"WORLD_SIZE", "1"},
                            {"MASTER_ADDR", "127.0.0.1"},
                            {"MASTER_PORT", "1"}});
  ASSERT_TRUE(launch.ok()) << launch.status();
  EXPECT_FALSE(launch->has_value());
  // But a rank of our own may be alone.
  const auto ours = Read(
      {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"TRAINBENCH_STORE", "/a/store"}});
  ASSERT_TRUE(ours.ok()) << ours.status();
  EXPECT_TRUE(ours->has_value());
}

TEST(LaunchTest, RanksOfOurOwnNeedNoAddress) {
  Variables variables;
  for (const std::string& pair : RankEnvironment(1, 3, "/a/store")) {
    variables[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
  }
  const auto launch = Read(variables);
  ASSERT_TRUE(launch.ok()) << launch.status();
  EXPECT_EQ((*launch)->rank, 1);
  EXPECT_EQ((*launch)->world_size, 3);
  EXPECT_EQ((*launch)->store_path, "/a/store");
  EXPECT_FALSE((*launch)->external());
}

TEST(LaunchTest, EveryBadVariableIsNamedWithItsValue) {
  EXPECT_EQ(Complaint(With(kTorchrun, "RANK", "8")),
            "the environment's RANK is '8'; allowed: a number from 0 to 7");
  EXPECT_EQ(Complaint({{"RANK", "0"}}),
            "the environment's WORLD_SIZE is not set; allowed: a number from 1 "
            "to 2147483647");
  EXPECT_THAT(Complaint(With(kTorchrun, "LOCAL_RANK", "4")),
              HasSubstr("LOCAL_RANK is '4'; allowed: a number from 0 to 3"));
  EXPECT_THAT(Complaint(With(kTorchrun, "LOCAL_WORLD_SIZE", "9")),
              HasSubstr("LOCAL_WORLD_SIZE is '9'"));
  EXPECT_THAT(Complaint(With(kTorchrun, "MASTER_PORT", "http")),
              HasSubstr("MASTER_PORT is 'http'"));
  EXPECT_THAT(Complaint(With(kTorchrun, "MASTER_ADDR", "")),
              HasSubstr("MASTER_ADDR is not set"));
  Variables local = kTorchrun;
  local.erase("LOCAL_RANK");
  EXPECT_THAT(Complaint(local), HasSubstr("LOCAL_RANK is not set"));
}

TEST(LaunchTest, OnlyALauncherMakesTrafficLeaveTheMachine) {
  EXPECT_EQ(LocalAddress({.store_path = "/a/store", .master_addr = "8.8.8.8"}),
            "127.0.0.1");
  EXPECT_EQ(LocalAddress({.master_addr = "127.0.0.1", .master_port = 9}),
            "127.0.0.1");
  EXPECT_EQ(LocalAddress({.master_addr = "no.such.host.invalid"}), "127.0.0.1");
}

}  // namespace
}  // namespace trainbench
