// SPDX-License-Identifier: MIT

#include "fixtures/rank_case.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "fixtures/cuda_support.h"
#include "fixtures/experiment.h"
#include "fixtures/link_rates.h"

namespace trainbench {
namespace {

TEST(RankCaseTest, RanksShareTheThreadsAndHaveOneAtLeast) {
  EXPECT_EQ(ThreadsPerRank(16, 4), 4);
  EXPECT_EQ(ThreadsPerRank(16, 6), 2);
  EXPECT_EQ(ThreadsPerRank(2, 6), 1);
}

TEST(RankCaseTest, OneProcessCanHaveTheThreadsOfOneOfSeveral) {
  EXPECT_EQ((RankPlan{.count = 4}).sharers(), 4);
  EXPECT_EQ((RankPlan{.count = 1, .as_one_of = 4}).sharers(), 4);
}

TEST(RankCaseTest, NcclNeedsAGpuForEachRank) {
  Device device;
  EXPECT_EQ(RanksUnavailable({.count = 64}, device), "");
  EXPECT_EQ(
      RanksUnavailable({.count = 1, .backend = CommBackend::kNccl}, device),
      "NCCL needs a GPU for each of 1 ranks; the device is a CPU");
  device.torch_device = c10::Device(c10::kCUDA, 0);
  const int gpus = CudaDeviceCount();
  EXPECT_EQ(RanksUnavailable({.count = 64}, device), "");
  EXPECT_EQ(
      RanksUnavailable({.count = gpus, .backend = CommBackend::kNccl}, device),
      "");
  EXPECT_EQ(RanksUnavailable({.count = gpus + 1, .backend = CommBackend::kNccl},
                             device),
            absl::StrCat("NCCL needs a GPU for each of ", gpus + 1,
                         " ranks; GPUs here: ", gpus));
}

// The GPUs of other machines are not counted: each rank opened its own.
TEST(RankCaseTest, UnderALauncherTheDeviceDecidesWhatRuns) {
  Device device;
  const RankPlan gloo = {.count = 16};
  const RankPlan nccl = {.count = 16, .backend = CommBackend::kNccl};
  EXPECT_EQ(BackendUnavailable(gloo, device), "");
  EXPECT_EQ(BackendUnavailable(nccl, device),
            "NCCL's ranks work on GPUs; the device is a CPU");
  device.torch_device = c10::Device(c10::kCUDA, 0);
  EXPECT_EQ(BackendUnavailable(gloo, device),
            "Gloo's ranks work on the CPU: launch them with --device=cpu");
  EXPECT_EQ(BackendUnavailable(nccl, device), "");
}

TEST(LinkRatesTest, AreOfTheMedianAndTheRing) {
  Sampling sampling;
  for (const double us : {900.0, 1000.0, 7000.0}) {
    sampling.samples.push_back({.total_us = us, .host_us = us});
  }
  const Findings found = LinkRates(4'000'000, 4, sampling);
  EXPECT_DOUBLE_EQ(found.counters.at("algbw_bytes_per_second"), 4e9);
  EXPECT_DOUBLE_EQ(found.counters.at("busbw_bytes_per_second"), 6e9);
}

struct Empty {};

class OfTwoRanks final : public Workload {
 public:
  using Params = Empty;
  OfTwoRanks(const Params&, const Device&, ProcessGroup& group)
      : group_(group) {}
  static std::vector<Params> Sweep(const RunOptions&, const Device&) {
    return {{}};
  }
  static CaseName NameOf(const Params&) { return CaseName("two"); }
  static Cost CostOf(const Params&, const Device&) { return {}; }
  static Protocol ProtocolOf(const Params&) {
    return {.ranks = RankPlan{.count = 2}};
  }
  absl::Status Check() override { return absl::OkStatus(); }
  void Run(PhaseObserver&) override { group_.Barrier(); }

 private:
  ProcessGroup& group_;
};

TEST(RankCaseTest, AFixtureWithAGroupIsBuiltOnARankOnly) {
  const Device device = *OpenDevice("cpu");
  const Case one = MakeCase<OfTwoRanks>({}, device);
  EXPECT_EQ(one.build, nullptr);
  EXPECT_NE(one.build_rank, nullptr);
  EXPECT_EQ(one.protocol.ranks->count, 2);
}

}  // namespace
}  // namespace trainbench
