// SPDX-License-Identifier: MIT
// Fully sharded ranks in a mesh: with replicas, and with models that are also
// divided by tensor parallelism.

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstddef>
#include <cstdint>

#include "model/distributed/fsdp/full_sharding_traffic.h"
#include "model/distributed/fsdp/fully_sharded.h"
#include "model/distributed/tensor_parallel/mesh.h"
#include "model/distributed/tensor_parallel/tensor_parallel_lm.h"
#include "model/distributed/trainer/parallel_verification.h"
#include "model/training/train_step.h"
#include "model/verification/relative_error.h"
#include "tests/support/fake_group.h"
#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

constexpr FullSharding kMeshShardings[] = {
    {.reshard_after_forward = true, .prefetch = true},
    {.reshard_after_forward = false, .prefetch = false}};
// The blocks, the embedding and the head.
constexpr int kUnits = 4;

ModelConfig Config(Implementation implementation) {
  return {"m", 24, 42, 2, 4, 37, AttentionOf(implementation), implementation};
}

void Step(TransformerLm& model, FullySharded& sharded, const Batch& batch) {
  RunParallelStep(model, sharded, batch, Precision::kFp32, NoObserver());
}

class RankFullyShardedMesh : public RankTest {
 protected:
  // Trains `replicas` replicas of a model on all ranks. The ranks of a replica
  // share it: fsdp ranks by parameter, and `tensor` ranks by matrix.
  void ExpectTrainsAsOneProcess(const ModelConfig& config, int replicas,
                                int tensor, const FullSharding& sharding) {
    SCOPED_TRACE(c10::str("data ", replicas, ", tensor ", tensor, ", reshard ",
                          sharding.reshard_after_forward));
    MeshGroups mesh = SplitMesh(*group_, tensor);
    const int batches = mesh.data->size(), fsdp = batches / replicas;
    // Neighboring ranks share a replica.
    MeshGroups shards = SplitMesh(*mesh.data, fsdp);
    at::manual_seed(3);
    TransformerLm whole(config, at::TensorOptions());
    TensorRanks ranks(config, *mesh.tensor);
    at::manual_seed(3);
    TransformerLm part = MakePart(ranks, {});
    AdamW adamw(Parameters(whole), AdamWKind::kFused);
    FullySharded sharded(part, sharding, at::kFloat, {}, *shards.tensor,
                         shards.data.get());
    at::manual_seed(11);
    const Batch batch = RandomBatch(37, 2 * batches, 7, at::kCPU);
    const int mine = 2 * mesh.data->rank();
    for (int step = 0; step < 3; ++step) {
      const CollectiveRecorder of_shards(*shards.tensor);
      const CollectiveRecorder of_replicas(*shards.data);
      Step(part, sharded,
           {batch.tokens.narrow(0, mine, 2), batch.targets.narrow(0, mine, 2)});
      const FullShardingTraffic expected =
          StepTraffic(ranks.part(), sharding, Precision::kFp32, fsdp, replicas);
      EXPECT_EQ(of_shards.traffic(), expected.shards);
      EXPECT_EQ(of_replicas.traffic(), expected.replicas);
      RunStep(StepMode::kTrainStep, whole, &adamw, batch, Precision::kFp32,
              NoObserver());
    }
    sharded.Gather();
    EXPECT_TRUE(VerifyReplicas(Parameters(part), *mesh.data).ok());
    const auto expected = whole->named_parameters();
    for (const auto& parameter : part->named_parameters()) {
      const at::Tensor& of_whole = expected[parameter.key()];
      EXPECT_LE(RelativeError(
                    Assemble(parameter.value(), of_whole.sizes(), *mesh.tensor),
                    of_whole),
                1e-4)
          << parameter.key();
    }
    sharded.Free();
    shards.Close();
    mesh.Close();
  }
};

TEST_F(RankFullyShardedMesh, TrainsAsOneProcess) {
  const int half = group_->size() / 2;
  for (const Implementation implementation : kImplementations) {
    for (const FullSharding& sharding : kMeshShardings) {
      ModelConfig config = Config(implementation);
      ExpectTrainsAsOneProcess(config, /*replicas=*/2, /*tensor=*/1, sharding);
      ExpectTrainsAsOneProcess(config, /*replicas=*/1, /*tensor=*/2, sharding);
      config.checkpointing = {.kind = Checkpointing::Kind::kBlocks, .every = 1};
      ExpectTrainsAsOneProcess(config, half, /*tensor=*/2, sharding);
    }
  }
}

TEST(FullyShardedMeshTest, ReplicasAverageEachShard) {
  const ModelConfig config = Config(Implementation::kTextbook);
  for (const int replicas : {1, 3}) {
    FakeGroup group(/*rank=*/0, /*size=*/2), others(/*rank=*/0, replicas);
    for (const FullSharding& sharding : kMeshShardings) {
      TransformerLm model(config, at::TensorOptions());
      FullySharded sharded(model, sharding, at::kFloat, {}, group, &others);
      const Batch batch = RandomBatch(37, 1, 4, at::kCPU);
      const auto step = [&] {
        const CollectiveRecorder of_shards(group), of_replicas(others);
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
                               : CollectiveCalls{kUnits, sums.bytes / 2}));
      // A trainer that does not exchange does not average either.
      sharded.SetExchanges(false);
      EXPECT_EQ(step(), FullShardingTraffic());
    }
  }
}

}  // namespace
}  // namespace trainbench
