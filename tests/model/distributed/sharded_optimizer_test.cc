// SPDX-License-Identifier: MIT

#include "model/distributed/zero/sharded_optimizer.h"

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "fixtures/memory/memory_probe.h"
#include "model/distributed/comm/gloo_exchanges.h"
#include "model/distributed/ddp/gradient_sync.h"
#include "tests/model/distributed/parallel_models.h"
#include "tests/support/matchers.h"
#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

constexpr AdamWOptions kSlowAdamW = {.lr = 0.1, .weight_decay = 0.1};

class RankShardedOptimizer : public RankTest {};

// No gradients live between steps.
TEST_F(RankShardedOptimizer, StateIsDividedByTheRanks) {
  // 1350 trainable elements in four tensors, not divisible by four: shards are
  // padded.
  const int64_t shard = launch_.world_size == 2 ? 675 : 338;
  std::map<OptimizerSharding, int64_t> bytes;
  for (const OptimizerSharding sharding : kOptimizerShardings) {
    SCOPED_TRACE(OptimizerShardingName(sharding));
    const auto probe = MakeMemoryProbe(at::kCPU);
    std::unique_ptr<ParallelModel> model;
    std::unique_ptr<ParallelTrainer> optimizer;
    probe->Observe([&] {
      model = std::make_unique<ParallelModel>();
      optimizer = MakeShardedOptimizer(sharding, TrainableParameters(*model),
                                       kSlowAdamW, *group_);
    });
    bytes[sharding] = optimizer->optimizer().StateBytes();
    const int64_t parameters =
        (sharding == OptimizerSharding::kSharded ? launch_.world_size * shard
                                                 : 1350) +
        50 + 2;  // frozen ones
    EXPECT_EQ(probe->LiveBytes(), 4 * parameters + bytes[sharding]);
    probe->Observe([&] {
      LossOf(*model, ParallelData::Make()).backward();
      optimizer->Finish();
      optimizer->Update();
      optimizer->ShareParameters();
    });
    EXPECT_EQ(probe->LiveBytes(), 4 * parameters + bytes[sharding]);
  }
  EXPECT_EQ(bytes[OptimizerSharding::kReplicated], 8 * 1350 + 4 * 4);
  EXPECT_EQ(bytes[OptimizerSharding::kSharded], 8 * shard + 4);
  const at::Tensor all =
      at::full({}, bytes[OptimizerSharding::kBroadcast], at::kLong);
  group_->AllReduce(all);
  EXPECT_EQ(all.item<int64_t>(), 8 * 1350 + 4 * 4);
}

// Works in place, with a last segment that is not full.
TEST_F(RankShardedOptimizer, LargePartsTravelInSegments) {
  const int64_t size = group_->size(), n = 2 * kRingSegment + 5;
  const auto probe = MakeMemoryProbe(at::kCPU);
  const at::Tensor ramp = at::arange(size * n, at::kDouble).remainder(1000);
  const at::Tensor all = (ramp * (group_->rank() + 1)).to(at::kFloat);
  const at::Tensor mine = all.narrow(0, group_->rank() * n, n);
  const MemoryPeak peak =
      probe->MeasurePeak([&] { group_->ReduceScatter(mine, all); });
  EXPECT_EQ(peak.allocated, 4 * 2 * kRingSegment);
  const int64_t sum = size * (size + 1) / 2;
  EXPECT_TRUE(
      mine.equal((ramp.narrow(0, group_->rank() * n, n) * sum).to(at::kFloat)));
  group_->AllGather(all, mine);
  EXPECT_TRUE(all.equal((ramp * sum).to(at::kFloat)));
}

TEST(ShardedOptimizerTest, GradientsTravelInOneCallAfterTheBackwardPass) {
  const std::map<OptimizerSharding, std::size_t> shared = {
      {OptimizerSharding::kReplicated, 0},
      {OptimizerSharding::kSharded, 1},
      {OptimizerSharding::kBroadcast, 4}};  // one for each of the parameters
  for (const OptimizerSharding sharding : kOptimizerShardings) {
    SCOPED_TRACE(OptimizerShardingName(sharding));
    double sent = 0;
    for (const int rank : {0, 1}) {
      const auto group = ProcessGroup::Fake({.rank = rank, .size = 2});
      ParallelModel model;
      const auto optimizer = MakeShardedOptimizer(
          sharding, TrainableParameters(model), kSlowAdamW, *group);
      const CollectiveRecorder recorder(*group);
      LossOf(model, ParallelData::Make()).backward();
      EXPECT_THAT(recorder.calls(), IsEmpty());
      optimizer->Finish();
      EXPECT_THAT(recorder.calls(), SizeIs(1));
      optimizer->Update();
      EXPECT_THAT(recorder.calls(), SizeIs(1));
      optimizer->ShareParameters();
      EXPECT_THAT(recorder.calls(), SizeIs(1 + shared.at(sharding)));
      sent += recorder.traffic().SentBytes(2);
    }
    EXPECT_EQ(sent / 2, OptimizerSentBytes(sharding, 4 * 1350, 2));
  }
}

// The model stays unchanged.
TEST(ShardedOptimizerTest, UnsuitableParametersAreRefused) {
  for (const OptimizerSharding sharding : kOptimizerShardings) {
    const auto group = ProcessGroup::Fake({.size = 2});
    const at::Tensor good = at::ones({4}).requires_grad_();
    const at::Tensor transposed = at::ones({2, 3}).t().requires_grad_();
    const void* before = good.data_ptr();
    EXPECT_THROW(MakeShardedOptimizer(sharding, {good, transposed}, {}, *group),
                 c10::Error);
    EXPECT_THROW(MakeShardedOptimizer(sharding, {good, good}, {}, *group),
                 c10::Error);
    EXPECT_EQ(good.data_ptr(), before);
  }
}

TEST(OwnershipTest, BalancesBySize) {
  const auto owners = [](const std::vector<int64_t>& elements, int ranks) {
    std::vector<at::Tensor> tensors;
    for (const int64_t n : elements) tensors.push_back(at::empty({n}));
    return AssignOwners(tensors, ranks);
  };
  EXPECT_THAT(owners({1, 8, 3, 4}, 2), ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(owners({5, 5, 5}, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(owners({2, 1}, 4), ElementsAre(0, 1)) << "ranks may be idle";
  EXPECT_THAT(owners({}, 2), IsEmpty());
}

}  // namespace
}  // namespace trainbench
