// SPDX-License-Identifier: MIT

#include "model/accounting/parallel/full_sharding_memory.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fixtures/memory/memory_probe.h"
#include "model/accounting/parallel/full_sharding.h"
#include "model/accounting/parameters.h"
#include "model/distributed/ddp/gradient_sync.h"
#include "model/distributed/fsdp/fully_sharded.h"
#include "model/distributed/tensor_parallel/mesh.h"
#include "model/distributed/tensor_parallel/tensor_parallel_lm.h"
#include "model/nn/dtype.h"
#include "model/training/train_step.h"
#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

constexpr FullSharding kShardings[] = {
    {.reshard_after_forward = true, .prefetch = true},
    {.reshard_after_forward = true, .prefetch = false},
    {.reshard_after_forward = false, .prefetch = true},
    {.reshard_after_forward = false, .prefetch = false}};

// Of `layers` blocks, where units are most of the peak, or activations.
MemoryQuery Query(int64_t layers, int64_t seq, Precision precision,
                  Implementation implementation) {
  return {.config = {.name = "m",
                     .d_model = 48,
                     .d_ff = 100,
                     .layers = layers,
                     .heads = 3,
                     .vocab = 301,
                     .attention = AttentionKind::kNaive,
                     .implementation = implementation},
          .batch = 2,
          .seq = seq,
          .precision = precision,
          .threads = 1};
}

class RankFullShardingMemory : public RankTest {
 protected:
  void Measure(const MemoryQuery& query, const FullSharding& sharding) {
    Measure(query, sharding, *group_, [&](TransformerLm& model) {
      model = TransformerLm(query.config, at::TensorOptions());
      BroadcastModel(*model, *group_);
    });
  }

  // Whole steps in an account of their own. `query` is of the model that `make`
  // makes.
  static void Measure(const MemoryQuery& query, const FullSharding& sharding,
                      ProcessGroup& group,
                      const std::function<void(TransformerLm&)>& make) {
    const FullShardingMemory predicted =
        EstimateFullSharding(query, sharding, group.size(), CommBackend::kGloo);
    const auto probe = MakeMemoryProbe(at::kCPU);
    TransformerLm model{nullptr};
    std::optional<FullySharded> sharded;
    Batch batch;
    probe->Observe([&] {
      make(model);
      sharded.emplace(model, sharding, WeightType(query.precision),
                      AdamWOptions(), group);
    });
    EXPECT_EQ(probe->LiveBytes(), predicted.resident_bytes());
    EXPECT_EQ(sharded->StateBytes(), predicted.optimizer_bytes);
    probe->Observe([&] {
      batch = RandomBatch(query.config.vocab, query.batch, query.seq, at::kCPU);
      Step(model, *sharded, batch, query.precision);  // makes rotary tables
    });
    const int64_t between = predicted.resident_bytes() + predicted.input_bytes;
    EXPECT_EQ(probe->LiveBytes(), between);
    const MemoryPeak peak = probe->MeasurePeak(
        [&] { Step(model, *sharded, batch, query.precision); });
    const auto measured = static_cast<double>(peak.allocated);
    EXPECT_NEAR(measured / static_cast<double>(predicted.peak.bytes), 1, 0.02)
        << predicted.peak.name << ", " << predicted.largest_at_peak;
    EXPECT_EQ(probe->LiveBytes(), between);
    EXPECT_EQ(sharded->Traffic(), StepTraffic(query.config, sharding,
                                              query.precision, group.size()));
  }

 private:
  static void Step(TransformerLm& model, FullySharded& sharded,
                   const Batch& batch, Precision precision) {
    NullObserver nobody;
    sharded.BeforeForward();
    at::Tensor loss = ComputeLoss(model, batch, precision, nobody);
    sharded.BeforeBackward();
    loss.backward();
    loss.reset();
    sharded.Finish();
    sharded.Step();
  }
};

std::string Describe(const MemoryQuery& query, const FullSharding& sharding) {
  return c10::str(query.config.layers, " layers, reshard ",
                  sharding.reshard_after_forward, ", prefetch ",
                  sharding.prefetch, ", seq ", query.seq, ", ",
                  std::string(ImplementationName(query.config.implementation)),
                  ", ", std::string(PrecisionName(query.precision)));
}

TEST_F(RankFullShardingMemory, IsAsPredicted) {
  at::set_num_threads(1);
  std::vector<MemoryQuery> queries;
  for (const Implementation implementation : kImplementations) {
    for (const int64_t seq : {4, 64}) {
      queries.push_back(Query(5, seq, Precision::kFp32, implementation));
    }
  }
  const auto textbook = Implementation::kTextbook;
  queries.push_back(Query(4, 4, Precision::kBf16, textbook));
  queries.push_back(Query(4, 16, Precision::kBf16Autocast, textbook));
  for (const int64_t layers : {1, 2, 3}) {
    queries.push_back(Query(layers, 8, Precision::kFp32, textbook));
  }
  for (const Implementation implementation : kImplementations) {
    MemoryQuery query = Query(5, 32, Precision::kFp32, implementation);
    query.config.checkpointing.kind = Checkpointing::Kind::kAttention;
    queries.push_back(query);
    query.config.checkpointing = {.kind = Checkpointing::Kind::kBlocks,
                                  .every = 1};
    queries.push_back(query);
  }
  // Of more ranks only the shards differ.
  if (launch_.world_size > 2) queries.resize(2);
  for (const FullSharding& sharding : kShardings) {
    for (const MemoryQuery& query : queries) {
      SCOPED_TRACE(Describe(query, sharding));
      Measure(query, sharding);
    }
  }
}

// In a mesh of two tensor ranks.
TEST_F(RankFullShardingMemory, OfASharedModelIsAsPredicted) {
  at::set_num_threads(1);
  MeshGroups mesh = SplitMesh(*group_, 2);
  for (const Implementation implementation : kImplementations) {
    MemoryQuery query = Query(3, 32, Precision::kFp32, implementation);
    query.config.d_model = 32;
    query.config.heads = 2;
    query.tensor_ranks = 2;
    const ModelConfig whole = query.config;
    for (const bool recomputed : {false, true}) {
      ModelConfig config = whole;
      if (recomputed) {
        config.checkpointing = {.kind = Checkpointing::Kind::kBlocks,
                                .every = 1};
      }
      TensorRanks ranks(config, *mesh.tensor);
      query.config = ranks.part();
      for (const FullSharding& sharding : {kShardings[0], kShardings[3]}) {
        SCOPED_TRACE(Describe(query, sharding));
        Measure(query, sharding, *mesh.data, [&](TransformerLm& model) {
          model = MakePart(ranks, at::TensorOptions());
        });
      }
    }
  }
  mesh.Close();
}

TEST(FullShardingMemoryTest, EachParameterTakes16BytesDividedByTheRanks) {
  const MemoryQuery query =
      Query(4, 8, Precision::kFp32, Implementation::kTextbook);
  const FullShardingMemory alone =
      EstimateFullSharding(query, {}, /*ranks=*/1, CommBackend::kGloo);
  EXPECT_EQ(alone.resident_bytes(), 16 * ParameterCount(query.config) + 4 * 6);
  // Six units, one of which does not divide by five.
  const FullShardingMemory fifth =
      EstimateFullSharding(query, {}, /*ranks=*/5, CommBackend::kGloo);
  const std::vector<int64_t> units = UnitElements(query.config, 5);
  int64_t padded = 0;
  for (const int64_t elements : units) {
    EXPECT_EQ(elements % 5, 0);
    padded += elements;
  }
  EXPECT_GT(padded, ParameterCount(query.config));
  EXPECT_EQ(fifth.resident_bytes(), 16 * padded / 5 + 4 * 6);
}

// What only Gloo needs.
TEST(FullShardingMemoryTest, NcclHasNoBuffersOfOurs) {
  const MemoryQuery query =
      Query(4, 1, Precision::kFp32, Implementation::kTextbook);
  const auto peak = [&](CommBackend backend) {
    return EstimateFullSharding(query, {}, 4, backend).peak.bytes;
  };
  EXPECT_LT(peak(CommBackend::kNccl), peak(CommBackend::kGloo));
}

TEST(FullShardingMemoryTest, WhatCannotBeCountedFitsNowhere) {
  MemoryQuery query = Query(4, 1, Precision::kFp32, Implementation::kTextbook);
  query.batch = int64_t{1} << 60;
  EXPECT_EQ(EstimateFullSharding(query, {}, 2, CommBackend::kNccl).peak.bytes,
            std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace trainbench
