// SPDX-License-Identifier: MIT

#include "model/distributed/fsdp/fully_sharded.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fixtures/memory/memory_probe.h"
#include "model/distributed/fsdp/full_sharding_traffic.h"
#include "model/distributed/zero/sharded_optimizer.h"
#include "model/nn/dtype.h"
#include "model/training/train_step.h"
#include "tests/support/architectures.h"
#include "tests/support/fake_group.h"
#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

constexpr AdamWOptions kAdamW = {.lr = 1e-2, .weight_decay = 0.1};
constexpr FullSharding kAllShardings[] = {
    {.reshard_after_forward = true, .prefetch = true},
    {.reshard_after_forward = true, .prefetch = false},
    {.reshard_after_forward = false, .prefetch = true},
    {.reshard_after_forward = false, .prefetch = false}};

// No recomputation; blocks in segments of one and of two; attention.
const Checkpointing kRecomputed[] = {
    {},
    {.kind = Checkpointing::Kind::kBlocks, .every = 1},
    {.kind = Checkpointing::Kind::kBlocks, .every = 2},
    {.kind = Checkpointing::Kind::kAttention}};

std::string Describe(const FullSharding& sharding) {
  return c10::str("reshard ", sharding.reshard_after_forward, ", prefetch ",
                  sharding.prefetch);
}

// No unit is divisible by four, and two of three are not divisible by two.
ModelConfig UnshardedConfig(
    Implementation implementation = Implementation::kTextbook) {
  return {.name = "m",
          .d_model = 18,
          .d_ff = 35,
          .layers = 3,
          .heads = 3,
          .vocab = 37,
          .attention = AttentionKind::kNaive,
          .implementation = implementation};
}

TransformerLm MakeShardedModel(uint64_t seed,
                               const ModelConfig& config = UnshardedConfig()) {
  at::manual_seed(seed);
  return TransformerLm(config, at::TensorOptions());
}

at::Tensor LossOf(TransformerLm& model, const Batch& batch) {
  return ComputeLoss(model, batch, Precision::kFp32, NoObserver());
}

void Step(TransformerLm& model, ParallelTrainer& trainer, const Batch& batch) {
  RunParallelStep(model, trainer, batch, Precision::kFp32, NoObserver());
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
  // Builds a model that is equal on all ranks.
  TransformerLm Build(const ModelConfig& config = UnshardedConfig()) {
    TransformerLm model =
        MakeShardedModel(static_cast<uint64_t>(launch_.rank), config);
    BroadcastModel(*model, *group_);
    return model;
  }

  Batch WholeBatch() const {
    at::manual_seed(5);
    return RandomBatch(37, 2 * launch_.world_size, 5, at::kCPU);
  }
  Batch MyBatch() const {
    const Batch whole = WholeBatch();
    return {whole.tokens.narrow(0, 2 * launch_.rank, 2),
            whole.targets.narrow(0, 2 * launch_.rank, 2)};
  }

  void ExpectTraffic(const ModelConfig& config, const FullSharding& sharding,
                     Precision precision, const FullShardingTraffic& expected) {
    TransformerLm model = Build(config);
    FullySharded sharded(model, sharding, WeightType(precision), kAdamW,
                         *group_);
    const CollectiveRecorder recorder(*group_);
    Step(model, sharded, MyBatch());
    EXPECT_EQ(recorder.traffic(), expected.shards);
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
    for (const FullSharding& sharding : kAllShardings) {
      SCOPED_TRACE(Describe(sharding));
      TransformerLm model = Build(config);
      FullySharded sharded(model, sharding, at::kFloat, kAdamW, *group_);
      for (int step = 0; step < 4; ++step) {
        Step(model, sharded, batch);
      }
      sharded.Gather();
      ExpectEqual(model, expected);
      sharded.Free();
    }
  }
}

// Recomputation does not change the traffic.
TEST_F(RankFullySharded, TrafficIsAsComputed) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    for (const FullSharding& sharding : kAllShardings) {
      SCOPED_TRACE(Describe(sharding));
      const FullShardingTraffic expected = StepTraffic(
          UnshardedConfig(), sharding, precision, launch_.world_size);
      for (const Checkpointing& recomputed : kRecomputed) {
        ModelConfig config = UnshardedConfig();
        config.checkpointing = recomputed;
        ExpectTraffic(config, sharding, precision, expected);
      }
    }
  }
}

TEST_F(RankFullySharded, ATiedHeadIsSentWithTheEmbeddings) {
  for (ModelConfig config : {UnshardedConfig(), Gpt(UnshardedConfig())}) {
    config.tied_embeddings = true;
    for (const FullSharding& sharding : kAllShardings) {
      SCOPED_TRACE(Describe(sharding));
      ExpectTraffic(
          config, sharding, Precision::kFp32,
          StepTraffic(config, sharding, Precision::kFp32, launch_.world_size));
    }
  }
}

// Gradients are computed for bf16 weights; fp32 weights are updated.
TEST_F(RankFullySharded, Bf16IsGatheredAndFp32Kept) {
  const Batch batch = MyBatch();
  TransformerLm master = Build(), narrow = Build();
  narrow->to(at::kBFloat16);
  AdamW adamw(Parameters(master), AdamWKind::kFused, kAdamW);
  TransformerLm model = Build();
  FullySharded sharded(model, {}, at::kBFloat16, kAdamW, *group_);
  for (int step = 0; step < 3; ++step) {
    LossOf(narrow, batch).backward();
    for (std::size_t i = 0; i < Parameters(master).size(); ++i) {
      const at::Tensor mean =
          Parameters(narrow)[i].grad().to(at::kFloat) / launch_.world_size;
      group_->AllReduce(mean);
      Parameters(master)[i].mutable_grad() = mean;
    }
    adamw.Step();
    ReleaseGradients(narrow);
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < Parameters(master).size(); ++i) {
      Parameters(narrow)[i].copy_(Parameters(master)[i]);
    }
    const at::AutoGradMode with_graph(true);
    Step(model, sharded, batch);
  }
  sharded.Gather();
  for (std::size_t i = 0; i < Parameters(model).size(); ++i) {
    const at::Tensor a = Parameters(model)[i], b = Parameters(narrow)[i];
    EXPECT_EQ(a.scalar_type(), at::kBFloat16);
    EXPECT_TRUE(a.to(at::kFloat).allclose(b.to(at::kFloat), 1e-2, 1e-3)) << i;
  }
  sharded.Free();
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

TEST(FullyShardedTest, HooksGoWithTheObject) {
  FakeGroup group(/*rank=*/0, /*size=*/1);
  TransformerLm model = MakeShardedModel(0);
  { FullySharded sharded(model, {}, at::kFloat, kAdamW, group); }
  FullySharded sharded(MakeShardedModel(0), {}, at::kFloat, kAdamW, group);
  EXPECT_EQ(group.calls(), 0);
}

}  // namespace
}  // namespace trainbench
