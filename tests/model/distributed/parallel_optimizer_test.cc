// SPDX-License-Identifier: MIT

#include "model/distributed/zero/parallel_optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fixtures/memory/memory_probe.h"
#include "model/distributed/comm/ring.h"
#include "model/distributed/ddp/gradient_sync.h"
#include "model/distributed/zero/ownership.h"
#include "tests/support/fake_group.h"
#include "tests/support/parallel_models.h"
#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using ModelPtr = std::shared_ptr<ParallelModel>;

constexpr AdamWOptions kSlowAdamW = {.lr = 0.1, .weight_decay = 0.1};

class RankParallelOptimizer : public RankTest {
 protected:
  std::unique_ptr<ParallelOptimizer> Optimizer(OptimizerSharding sharding,
                                               const ParallelModel& model) {
    return MakeParallelOptimizer(sharding, TrainableParameters(model),
                                 kSlowAdamW, *group_);
  }

  ParallelData MyPart() const {
    return data_.Part(launch_.rank, launch_.world_size);
  }

  void Step(ParallelModel& model, ParallelOptimizer& optimizer) {
    LossOf(model, MyPart()).backward();
    optimizer.Synchronize();
    optimizer.Step();
    optimizer.ShareParameters();
    ReleaseGradients(model);
  }

  void ExpectTrainsAsOneProcess(
      OptimizerSharding sharding,
      const std::function<ModelPtr(uint64_t seed)>& make) {
    const ModelPtr model = make(static_cast<uint64_t>(launch_.rank));
    const ModelPtr alone = make(0);
    BroadcastModel(*model, *group_);
    const auto optimizer = Optimizer(sharding, *model);
    AdamW adamw(TrainableParameters(*alone), AdamWKind::kFused, kSlowAdamW);
    for (int step = 0; step < 10; ++step) {
      Step(*model, *optimizer);
      LossOf(*alone, data_).backward();
      adamw.Step();
      ReleaseGradients(*alone);
    }
    EXPECT_LE(LargestDifference(*model, *alone), 1e-5)
        << OptimizerShardingName(sharding);
    const ModelPtr first = make(0);
    CopyParameters(*model, *first);
    BroadcastModel(*first, *group_);
    EXPECT_EQ(LargestDifference(*model, *first), 0) << "ranks differ";
  }

  const ParallelData data_ = ParallelData::Make();
};

template <typename Model>
ModelPtr Make(uint64_t seed) {
  at::manual_seed(seed);
  return std::make_shared<Model>();
}

TEST_F(RankParallelOptimizer, TrainsAsOneProcess) {
  for (const OptimizerSharding sharding : kOptimizerShardings) {
    ExpectTrainsAsOneProcess(sharding, Make<DdpToyModel>);
    ExpectTrainsAsOneProcess(sharding, Make<TiedModel>);
  }
}

TEST_F(RankParallelOptimizer, StateIsDividedByTheRanks) {
  // 1350 elements in four tensors, not a multiple of four.
  const ModelPtr model = Make<TiedModel>(0);
  const int64_t shard = launch_.world_size == 2 ? 675 : 338;
  const auto bytes = [&](OptimizerSharding sharding) {
    return Optimizer(sharding, *model)->StateBytes();
  };
  EXPECT_EQ(bytes(OptimizerSharding::kReplicated), 8 * 1350 + 4 * 4);
  EXPECT_EQ(bytes(OptimizerSharding::kSharded), 8 * shard + 4);
  const at::Tensor all =
      at::full({}, bytes(OptimizerSharding::kBroadcast), at::kLong);
  group_->AllReduce(all);
  EXPECT_EQ(all.item<int64_t>(), 8 * 1350 + 4 * 4);
}

// Its parameters may lie in a buffer that is larger.
TEST_F(RankParallelOptimizer, AStepLeavesTheMemoryThatItFound) {
  for (const OptimizerSharding sharding : kOptimizerShardings) {
    SCOPED_TRACE(OptimizerShardingName(sharding));
    const auto probe = MakeMemoryProbe(at::kCPU);
    ModelPtr model;
    std::unique_ptr<ParallelOptimizer> optimizer;
    probe->Observe([&] {
      model = Make<TiedModel>(0);
      optimizer = Optimizer(sharding, *model);
    });
    const int64_t kept = probe->LiveBytes();
    EXPECT_GE(kept, 2 * 4 * 1350 + optimizer->StateBytes());
    for (int step = 0; step < 2; ++step) {
      probe->Observe([&] { LossOf(*model, MyPart()).backward(); });
      EXPECT_EQ(probe->LiveBytes(), kept);
      probe->Observe([&] {
        optimizer->Synchronize();
        optimizer->Step();
        optimizer->ShareParameters();
      });
      ReleaseGradients(*model);
      EXPECT_EQ(probe->LiveBytes(), kept);
    }
  }
}

// In place, with a last segment that is not full.
TEST_F(RankParallelOptimizer, LargePartsTravelInSegments) {
  const int64_t size = group_->size(), n = 2 * kRingSegment + 5;
  const auto probe = MakeMemoryProbe(at::kCPU);
  const at::Tensor ramp = at::arange(size * n, at::kDouble).remainder(1000);
  const at::Tensor all = (ramp * (group_->rank() + 1)).to(at::kFloat);
  const at::Tensor mine = all.narrow(0, group_->rank() * n, n);
  const MemoryPeak peak =
      probe->MeasurePeak([&] { group_->ReduceScatter(mine, all); });
  EXPECT_EQ(peak.allocated, 4 * 2 * kRingSegment);
  EXPECT_EQ(peak.allocated, 4 * 2 * kRingSegment);
  const int64_t sum = size * (size + 1) / 2;
  EXPECT_TRUE(
      mine.equal((ramp.narrow(0, group_->rank() * n, n) * sum).to(at::kFloat)));
  group_->AllGather(all, mine);
  EXPECT_TRUE(all.equal((ramp * sum).to(at::kFloat)));
}

TEST_F(RankParallelOptimizer, AMissingGradientIsAnErrorThatNamesIt) {
  for (const OptimizerSharding sharding : kOptimizerShardings) {
    BranchModel model;
    const auto optimizer = Optimizer(sharding, model);
    LossOf(model, MyPart()).backward();
    try {
      optimizer->Synchronize();
      ADD_FAILURE() << "no error";
    } catch (const c10::Error& error) {
      EXPECT_THAT(error.what_without_backtrace(),
                  HasSubstr("parameter 0 [3] has no gradient"));
    }
  }
}

// So that the time of the update is the update's alone.
TEST(ParallelOptimizerTest, TheUpdateSendsNothing) {
  const std::map<OptimizerSharding, int> sent = {
      {OptimizerSharding::kReplicated, 0},
      {OptimizerSharding::kSharded, 1},
      {OptimizerSharding::kBroadcast, 3}};  // of as many parameters
  for (const OptimizerSharding sharding : kOptimizerShardings) {
    SCOPED_TRACE(OptimizerShardingName(sharding));
    FakeGroup group(/*rank=*/0, /*size=*/2);
    DdpToyModel model;
    const auto optimizer = MakeParallelOptimizer(
        sharding, TrainableParameters(model), kSlowAdamW, group);
    LossOf(model, ParallelData::Make()).backward();
    EXPECT_EQ(group.calls(), 0) << "before the exchange";
    optimizer->Synchronize();
    EXPECT_EQ(group.calls(), 1);
    optimizer->Step();
    EXPECT_EQ(group.calls(), 1);
    optimizer->ShareParameters();
    EXPECT_EQ(group.calls(), 1 + sent.at(sharding));
  }
}

TEST(OwnershipTest, BalancesBySize) {
  EXPECT_THAT(AssignOwners({1, 8, 3, 4}, 2), ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(AssignOwners({5, 5, 5}, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(AssignOwners({2, 1}, 4), ElementsAre(0, 1))
      << "ranks may be idle";
  EXPECT_THAT(AssignOwners({}, 2), IsEmpty());
}

}  // namespace
}  // namespace trainbench
