// SPDX-License-Identifier: MIT

#include "model/distributed/fsdp/fully_sharded.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstddef>
#include <cstdint>

#include "fixtures/memory/memory_probe.h"
#include "model/distributed/fsdp/full_sharding_traffic.h"
#include "model/distributed/tensor_parallel/tensor_parallel_lm.h"
#include "model/distributed/tensor_parallel/tensor_ranks.h"
#include "model/distributed/trainer/parallel_verification.h"
#include "model/distributed/zero/sharded_optimizer.h"
#include "model/training/train_step.h"
#include "tests/model/distributed/parallel_models.h"
#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

constexpr AdamWOptions kAdamW = {.lr = 1e-2, .weight_decay = 0.1};

// No recomputation; blocks in segments of one and of two; attention.
const Checkpointing kRecomputed[] = {
    {},
    {.kind = Checkpointing::Kind::kBlocks, .every = 1},
    {.kind = Checkpointing::Kind::kBlocks, .every = 2},
    {.kind = Checkpointing::Kind::kAttention}};

// Four ranks cannot divide the blocks evenly.
ModelConfig UnshardedConfig() { return {"m", 18, 35, 3, 3, 37}; }

at::Tensor LossOf(TransformerLm& model, const Batch& batch) {
  return ComputeLoss(model, batch, Precision::kFp32);
}

void Step(TransformerLm& model, ParallelTrainer& trainer, const Batch& batch) {
  RunParallelStep(model, trainer, batch, Precision::kFp32);
}

void ExpectEqual(const TransformerLm& a, const TransformerLm& b) {
  const auto left = Parameters(a), right = Parameters(b);
  for (std::size_t i = 0; i < left.size(); ++i) {
    EXPECT_TRUE(left[i].equal(right[i]))
        << "parameter " << i << " differs by up to "
        << (left[i] - right[i]).abs().max().item<double>() << " in "
        << left[i].ne(right[i]).sum().item<int64_t>() << " elements";
  }
}

class RankFullySharded : public RankTest {
 protected:
  TransformerLm Build(const ModelConfig& config = UnshardedConfig()) {
    return Replica(config, *group_);
  }

  Batch MyBatch() const {
    at::manual_seed(5);
    return ShareOf(RandomBatch(37, 2 * launch_.world_size, 5, at::kCPU),
                   *group_);
  }
};

// Adding two numbers is commutative, so ranks agree. All tensors and shards are
// 64-byte aligned, so kernels split them in the same way.
TEST_F(RankFullySharded, TwoRanksTrainToTheBitsOfAShardedOptimizer) {
  if (launch_.world_size != 2) GTEST_SKIP();
  const Batch batch = MyBatch();
  ModelConfig config = UnshardedConfig();
  config.d_model = 32;
  config.d_ff = 64;
  config.heads = 2;
  config.vocab = 48;
  TransformerLm expected = Build(config);
  const auto optimizer =
      MakeShardedOptimizer(OptimizerSharding::kSharded,
                           TrainableParameters(*expected), kAdamW, *group_);
  for (int step = 0; step < 4; ++step) Step(expected, *optimizer, batch);
  for (const Checkpointing& recomputed : kRecomputed) {
    config.checkpointing = recomputed;
    for (const FullSharding& sharding : kFullShardings) {
      SCOPED_TRACE(TextOf(sharding));
      TransformerLm model = Build(config);
      FullySharded sharded(model, sharding, at::kFloat, kAdamW, *group_);
      for (int step = 0; step < 4; ++step) Step(model, sharded, batch);
      sharded.Gather();
      ExpectEqual(model, expected);
      sharded.Free();
    }
  }
}

// Tests with and without an autograd graph.
TEST_F(RankFullySharded, AForwardPassAloneLeavesNothing) {
  TransformerLm model = Build(), same = Build();
  FullySharded sharded(model, {}, at::kFloat, kAdamW, *group_);
  const Batch batch = MyBatch();
  const auto pass = [&] {
    sharded.BeforeForward();
    EXPECT_TRUE(LossOf(model, batch).equal(LossOf(same, batch)));
    sharded.Free();
  };
  pass();  // creates the rotary tables, which stay
  const auto probe = MakeMemoryProbe(at::kCPU);
  for (const bool graph : {false, true}) {
    const at::AutoGradMode mode(graph);
    probe->Observe(pass);
    EXPECT_EQ(probe->LiveBytes(), 0);
  }
  Step(model, sharded, batch);
}

// In a mesh, models have replicas, or ranks also divide their matrices.
class RankFullyShardedMesh : public RankTest {
 protected:
  // Trains `replicas` replicas of a model on all ranks. The ranks of a replica
  // share it: fsdp ranks by parameter, and `tensor` ranks by matrix.
  void ExpectTrainsAsOneProcess(const ModelConfig& config, int replicas,
                                int tensor, const FullSharding& sharding) {
    SCOPED_TRACE(c10::str("data ", replicas, ", tensor ", tensor, ", ",
                          TextOf(sharding)));
    const MeshGroups mesh = SplitMesh(*group_, tensor);
    const int batches = mesh.data->size(), fsdp = batches / replicas;
    // Neighboring ranks share a replica.
    const MeshGroups shards = SplitMesh(*mesh.data, fsdp);
    at::manual_seed(3);
    TransformerLm whole(config, at::TensorOptions());
    TensorRanks ranks(config, *mesh.tensor);
    at::manual_seed(3);
    TransformerLm part = MakePart(ranks, {});
    AdamW adamw(Parameters(whole), AdamWKind::kFused);
    FullySharded sharded(part, sharding, at::kFloat, {}, *shards.tensor,
                         shards.data);
    at::manual_seed(11);
    const Batch batch = RandomBatch(37, 2 * batches, 7, at::kCPU);
    for (int step = 0; step < 3; ++step) {
      Step(part, sharded, ShareOf(batch, *mesh.data));
      RunStep(StepMode::kTrainStep, whole, &adamw, batch, Precision::kFp32);
    }
    sharded.Gather();
    EXPECT_TRUE(VerifyReplicas(Parameters(part), *mesh.data).ok());
    ExpectAssembled(part, whole, *mesh.tensor, 1e-4);
    sharded.Free();
  }
};

TEST_F(RankFullyShardedMesh, TrainsAsOneProcess) {
  const int half = group_->size() / 2;
  for (const Implementation implementation : kImplementations) {
    for (const FullSharding& sharding :
         {kFullShardings[0], kFullShardings[3]}) {
      ModelConfig config = MeshConfig(implementation);
      ExpectTrainsAsOneProcess(config, /*replicas=*/2, /*tensor=*/1, sharding);
      ExpectTrainsAsOneProcess(config, /*replicas=*/1, /*tensor=*/2, sharding);
      config.checkpointing = {.kind = Checkpointing::Kind::kBlocks, .every = 1};
      ExpectTrainsAsOneProcess(config, half, /*tensor=*/2, sharding);
    }
  }
}

TEST(FullyShardedMeshTest, ReplicasAverageEachShard) {
  const ModelConfig config = MeshConfig(Implementation::kTextbook);
  const int64_t units = config.layers + 2;  // with the embeddings and the head
  for (const int replicas : {1, 3}) {
    const auto group = ProcessGroup::Fake({.size = 2});
    const auto others = ProcessGroup::Fake({.size = replicas});
    for (const FullSharding& sharding :
         {kFullShardings[0], kFullShardings[3]}) {
      TransformerLm model(config, at::TensorOptions());
      FullySharded sharded(model, sharding, at::kFloat, {}, *group,
                           others.get());
      const Batch batch = RandomBatch(37, 1, 4, at::kCPU);
      const auto step = [&] {
        const CollectiveRecorder of_shards(*group), of_replicas(*others);
        Step(model, sharded, batch);
        return FullShardingTraffic{of_shards.traffic(), of_replicas.traffic()};
      };
      const FullShardingTraffic traffic = step();
      EXPECT_EQ(traffic,
                StepTraffic(config, sharding, Precision::kFp32, 2, replicas));
      const CollectiveCalls& sums =
          traffic.shards.Of(CollectiveKind::kReduceScatter);
      EXPECT_EQ(traffic.replicas.All(),
                (replicas == 1 ? CollectiveCalls()
                               : CollectiveCalls{units, sums.bytes / 2}));
      // A trainer that does not exchange does not average either.
      sharded.SetExchanges(false);
      EXPECT_EQ(step(), FullShardingTraffic());
    }
  }
}

}  // namespace
}  // namespace trainbench
