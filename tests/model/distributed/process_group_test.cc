// SPDX-License-Identifier: MIT

#include "model/distributed/comm/process_group.h"

#include <torch/types.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <utility>
#include <vector>

#include "fixtures/device/cuda_support.h"
#include "fixtures/memory/memory_probe.h"
#include "fixtures/ranks/distributed_context.h"
#include "fixtures/ranks/errors.h"
#include "model/distributed/comm/backends.h"
#include "model/distributed/comm/rendezvous.h"
#include "tests/model/c10_error.h"
#include "tests/support/matchers.h"
#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

using std::chrono::milliseconds;

class RankProcessGroup : public RankTest {};

TEST_F(RankProcessGroup, Collectives) {
  const int n = group_->size();
  const float rank = static_cast<float>(group_->rank());
  const at::Tensor sum = at::full({3}, rank + 1);
  group_->AllReduce(sum);
  EXPECT_TRUE(at::equal(sum, at::full({3}, n * (n + 1) / 2.0F)));

  const at::Tensor most = at::full({2}, rank);
  group_->AllReduceMax(most);
  EXPECT_TRUE(at::equal(most, at::full({2}, n - 1.0F)));

  const at::Tensor root = at::full({2}, rank);
  group_->Broadcast(root, n - 1);
  EXPECT_TRUE(at::equal(root, at::full({2}, n - 1.0F)));

  const at::Tensor all = at::empty({2 * n});
  group_->AllGather(all, at::full({2}, rank));
  EXPECT_TRUE(at::equal(all, at::arange(n, at::kFloat).repeat_interleave(2)));

  const at::Tensor part = at::empty({2});
  group_->ReduceScatter(part, at::arange(2 * n, at::kFloat));
  EXPECT_TRUE(
      at::equal(part, at::arange(2 * group_->rank(), 2 * group_->rank() + 2) *
                          static_cast<float>(n)));

  group_->Barrier();
}

// Splits into pairs of neighbors, and into groups of the same place in a pair.
TEST_F(RankProcessGroup, ARankTalksToTheRanksOfItsColor) {
  const int n = group_->size(), rank = group_->rank();
  std::vector<int> neighbors, places;
  for (int r = 0; r < n; ++r) {
    neighbors.push_back(r / 2);
    places.push_back(r % 2);
  }
  auto* const pair = group_->Split(neighbors).value();
  auto* const row = group_->Split(places).value();
  EXPECT_EQ(pair->size(), 2);
  EXPECT_EQ(pair->rank(), rank % 2);
  EXPECT_EQ(row->size(), n / 2);
  EXPECT_EQ(row->rank(), rank / 2);
  const at::Tensor of_pair = at::full({2}, rank, at::kFloat);
  const at::Tensor of_row = of_pair.clone();
  Collective started = pair->StartAllReduce(of_pair);
  row->AllReduce(of_row);
  Await(std::move(started));
  EXPECT_EQ(of_pair[0].item<int>(), rank / 2 * 4 + 1);
  EXPECT_EQ(of_row[0].item<int>(), n / 2 * (rank % 2 + (n / 2 - 1)));
  EXPECT_EQ(*group_->Split(neighbors), pair);
  // A split of a split, with this rank only.
  auto* const alone = pair->Split({3, 5}).value();
  alone->AllReduce(of_pair);
  EXPECT_EQ(alone->size(), 1);
  EXPECT_EQ(of_pair[0].item<int>(), rank / 2 * 4 + 1);
  group_->Close();
}

TEST_F(RankProcessGroup, EachRankHasOneColor) {
  const auto part = group_->Split({0});
  EXPECT_EQ(part.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(part.status().message()),
      AllOf(HasSubstr("1 colors"), HasSubstr("allowed: one for each of ")));
}

TEST_F(RankProcessGroup, GloosRanksAgreeThroughTheirOwnGroup) {
  EXPECT_EQ(&group_->cpu_group(), group_.get());
  group_->Close();
}

TEST_F(RankProcessGroup, NcclWithoutAGpuIsAnErrorWithTheReason) {
  if (CudaDeviceCount() > 0) GTEST_SKIP() << "there is a GPU";
  const auto store = OpenStore(launch_, kTimeout).value();
  const auto group = ProcessGroup::Join(
      SubStore("nccl", store),
      GroupOptionsFor(launch_, CommBackend::kNccl, kTimeout));
  EXPECT_EQ(group.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(group.status().message()),
              AnyOf(HasSubstr("no GPUs found"), HasSubstr("without CUDA")));
}

// Compared bit by bit with the ring, which has a buffer of another size.
TEST_F(RankProcessGroup, StartedCollectivesGiveTheBitsOfTheRing) {
  const int n = group_->size(), rank = group_->rank();
  at::manual_seed(static_cast<uint64_t>(rank));
  const at::Tensor values = at::randn({1000 * n}), ring = values.clone();
  const at::Tensor sum = at::empty({1000}), sum_of_ring = at::empty({1000});
  const at::Tensor half = at::full({7}, rank, at::kBFloat16);
  const at::Tensor halves = at::empty({7 * n}, at::kBFloat16);
  Collective reduced = group_->StartReduceScatter(sum, values);
  Collective gathered = group_->StartAllGather(halves, half);
  group_->ReduceScatter(sum_of_ring, ring);
  Await(std::move(gathered));
  Await(std::move(reduced));
  EXPECT_TRUE(sum.equal(sum_of_ring));
  EXPECT_TRUE(halves.equal(
      at::arange(n, at::kFloat).repeat_interleave(7).to(at::kBFloat16)));

  const at::Tensor all = at::empty({1000 * n}), all_of_ring = all.clone();
  const auto mine = all.narrow(0, 1000 * rank, 1000);
  mine.copy_(sum);
  Await(group_->StartAllGather(all, mine));
  group_->AllGather(all_of_ring, sum);
  EXPECT_TRUE(all.equal(all_of_ring));
}

TEST_F(RankProcessGroup, AStartedReduceScatterHoldsAsMuchAsTheOthersSend) {
  const int n = group_->size();
  const auto probe = MakeMemoryProbe(at::kCPU);
  const at::Tensor values = at::ones({1000 * n});
  const at::Tensor mine = values.narrow(0, 1000 * group_->rank(), 1000);
  const MemoryPeak peak = probe->MeasurePeak(
      [&] { Await(group_->StartReduceScatter(mine, values)); });
  EXPECT_EQ(peak.allocated, 4 * 1000 * (n - 1));
  EXPECT_TRUE(mine.equal(at::full({1000}, static_cast<float>(n))));
}

TEST_F(RankProcessGroup, NothingIsSentOfNothing) {
  const at::Tensor none = at::empty({0});
  Await(group_->StartAllGather(none, none));
  Await(group_->StartReduceScatter(none, none));
}

// Uses a group with a shorter timeout than the fixture's, where the ranks met.
TEST_F(RankProcessGroup, DISABLED_OneIsLate) {
  group_ = NewGroup("late", milliseconds(3000));
  if (group_->rank() == 1) std::this_thread::sleep_for(std::chrono::hours(1));
  try {
    group_->AllReduce(at::ones({1}));
  } catch (const c10::DistError& error) {
    const absl::Status late =
        absl::UnavailableError(error.what_without_backtrace());
    std::cout << FailureLine(MakeRankFailure(0, late)) << std::endl;
    std::_Exit(1);
  }
}

#ifdef TRAINBENCH_CUDA
TEST(ProcessGroupTest, AnNcclHeaderOtherThanLibTorchsIsRefused) {
  EXPECT_THAT(ErrorOf([] {
                CheckNcclHeader({1, 2, 34});
              }),
              AllOf(HasSubstr("nccl.h 1.2.34"), HasSubstr("allowed: 2.")));
}

TEST(ProcessGroupTest, AFailedCollectiveOfNcclDoesNotEndTheProcess) {
  constexpr char kErrors[] = "TORCH_NCCL_ASYNC_ERROR_HANDLING";
  unsetenv(kErrors);
  SetNcclEnvironment();
  EXPECT_STREQ(std::getenv(kErrors), "2") << "CleanUpOnly";
  EXPECT_STREQ(std::getenv("TORCH_NCCL_RETHROW_CUDA_ERRORS"), "0");
  for (const auto& [given, kept] : {std::pair("1", "2"), {"3", "3"}}) {
    setenv(kErrors, given, /*overwrite=*/1);
    SetNcclEnvironment();
    EXPECT_STREQ(std::getenv(kErrors), kept) << "torchrun sets 1";
  }
  unsetenv(kErrors);
}
#endif

// A message to a dead rank raises the same signal.
TEST_F(RankProcessGroup, ABrokenPipeIsNotTheEnd) {
  EXPECT_EQ(std::raise(SIGPIPE), 0);
  group_->Barrier();
}

TEST(ProcessGroupTest, ALateRankIsAnErrorWithinTheTimeout) {
  EXPECT_THAT(RunAsRanks("RankProcessGroup.DISABLED_OneIsLate", 2).ToString(),
              HasSubstr("rank 1 did not answer"));
}

TEST(ProcessGroupTest, GlooTakesSeveralNetworkInterfaces) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  EXPECT_TRUE(ProcessGroup::Join(store, {.network_interfaces = "lo,lo"}).ok());
}

TEST(ProcessGroupTest, ARankMustBeOneOfTheSize) {
  const auto store = OpenFileStore("/dev/null", 2, milliseconds(10));
  for (const int rank : {-1, 2}) {
    const auto group = ProcessGroup::Join(store, {.rank = rank, .size = 2});
    EXPECT_THAT(
        std::string(group.status().message()),
        AllOf(HasSubstr(std::to_string(rank)), HasSubstr("allowed: 0 to")));
  }
}

}  // namespace
}  // namespace trainbench
