// SPDX-License-Identifier: MIT
// The memory of fully sharded ranks, compared with dry runs of each rank alone,
// and their traffic, compared with its closed form.

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/accounting/parameters.h"
#include "model/distributed/fsdp/full_sharding_traffic.h"
#include "model/distributed/fsdp/fully_sharded.h"
#include "model/distributed/tensor_parallel/mesh.h"
#include "model/distributed/tensor_parallel/tensor_parallel_lm.h"
#include "model/dry_run/dry_run.h"
#include "model/nn/dtype.h"
#include "model/training/train_step.h"
#include "tests/model/distributed/parallel_models.h"
#include "tests/model/step_bytes.h"
#include "tests/support/architectures.h"
#include "tests/support/rank_fixture.h"

namespace trainbench {
namespace {

struct MemoryJob {
  ModelConfig model;
  int64_t seq = 4;
  Precision precision = Precision::kFp32;
  FullSharding sharding = {};
  bool shares_matrices = false;
};

std::string TextOf(const MemoryJob& job) {
  return c10::str(FormatModel(job.model), " seq ", job.seq, ", ",
                  std::string(PrecisionName(job.precision)), ", ",
                  TextOf(job.sharding));
}

// A model of `layers` blocks, which four ranks cannot divide evenly; either
// units or activations dominate its peak.
MemoryJob JobOf(int64_t layers, int64_t seq, Implementation implementation,
                Precision precision = Precision::kFp32) {
  return {.model = {.name = "m",
                    .d_model = 42,
                    .d_ff = 101,
                    .layers = layers,
                    .heads = 3,
                    .vocab = 301,
                    .attention = AttentionKind::kNaive,
                    .implementation = implementation},
          .seq = seq,
          .precision = precision};
}

std::vector<MemoryJob> Jobs() {
  using enum Implementation;
  using enum Checkpointing::Kind;
  std::vector<MemoryJob> jobs;
  for (const Implementation implementation : kImplementations) {
    jobs.push_back(JobOf(5, 4, implementation));
    jobs.push_back(JobOf(5, 64, implementation));
    for (const Checkpointing& checkpointing :
         {Checkpointing{kAttention}, Checkpointing{kBlocks, 1},
          Checkpointing{kBlocks, 2}}) {
      jobs.push_back(JobOf(5, 32, implementation));
      jobs.back().model.checkpointing = checkpointing;
    }
  }
  jobs.push_back(JobOf(4, 4, kTextbook, Precision::kBf16));
  jobs.push_back(JobOf(4, 16, kTextbook, Precision::kBf16Autocast));
  for (const int64_t layers : {1, 2, 3}) {
    jobs.push_back(JobOf(layers, 8, kTextbook));
  }
  // A tied head is sent with the embeddings.
  for (int i = 0; i < 2; ++i) {
    jobs.push_back(JobOf(2, 8, kTextbook));
    ModelConfig& model = jobs.back().model;
    model = Tied(i == 0 ? model : Gpt(model));
  }
  return jobs;
}

// The first two jobs are sharded in every way, the others in one way each.
std::vector<FullSharding> ShardingsOf(std::size_t job) {
  if (job < 2) return {std::begin(kFullShardings), std::end(kFullShardings)};
  return {kFullShardings[job % std::size(kFullShardings)]};
}

// Jobs in which two ranks share each matrix.
std::vector<MemoryJob> SharedJobs() {
  std::vector<MemoryJob> jobs;
  for (const Implementation implementation : kImplementations) {
    for (const int64_t every : {0, 1}) {
      MemoryJob job = JobOf(3, 32, implementation);
      job.model.d_model = 32;
      job.model.heads = 2;
      if (every > 0) {
        job.model.checkpointing = {Checkpointing::Kind::kBlocks, every};
      }
      job.shares_matrices = true;
      jobs.push_back(job);
    }
  }
  return jobs;
}

// The memory of a step and its traffic to the ranks that hold other shards.
struct JobBytes {
  StepBytes bytes;
  Traffic traffic;
  bool operator==(const JobBytes&) const = default;
};

void PrintTo(const JobBytes& job, std::ostream* out) {
  PrintTo(job.bytes, out);
  *out << ", gathered " << job.traffic.Of(CollectiveKind::kAllGather).bytes;
}

JobBytes BytesOfSteps(const MemoryJob& job, ProcessGroup& data,
                      ProcessGroup& tensor) {
  std::optional<TensorRanks> ranks;
  if (job.shares_matrices) ranks.emplace(job.model, tensor);
  TransformerLm model{nullptr};
  std::optional<FullySharded> sharded;
  const Batch batch =
      RandomBatch(job.model.vocab, /*batch=*/2, job.seq, at::kCPU);
  JobBytes found;
  const auto step = [&] {
    const CollectiveRecorder recorder(data);
    RunParallelStep(model, *sharded, batch, job.precision);
    found.traffic = recorder.traffic();
  };
  found.bytes = MeasureSteps(
      at::kCPU,
      [&] {
        model = ranks ? MakePart(*ranks, at::TensorOptions())
                      : TransformerLm(job.model, at::TensorOptions());
        BroadcastModel(*model, data);
        sharded.emplace(model, job.sharding, WeightType(job.precision),
                        AdamWOptions(), data);
      },
      step);
  EXPECT_EQ(found.bytes.after, found.bytes.resident);
  return found;
}

JobBytes DryBytesOfSteps(const MemoryJob& job, const ProcessGroup& data,
                         const ProcessGroup& tensor) {
  const auto dry_data = WithoutOthers(data), dry_tensor = WithoutOthers(tensor);
  const DryRun dry;
  return BytesOfSteps(job, *dry_data, *dry_tensor);
}

class RankFullShardingMemory : public RankTest {};

TEST_F(RankFullShardingMemory, IsThatOfADryRun) {
  std::vector<MemoryJob> jobs = Jobs();
  // With more ranks only the shards differ.
  if (launch_.world_size > 2) jobs.resize(2);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    MemoryJob job = jobs[i];
    for (const FullSharding& sharding : ShardingsOf(i)) {
      job.sharding = sharding;
      const JobBytes bytes = BytesOfSteps(job, *group_, *group_);
      EXPECT_EQ(DryBytesOfSteps(job, *group_, *group_), bytes) << TextOf(job);
      EXPECT_EQ(bytes.traffic, StepTraffic(job.model, sharding, job.precision,
                                           launch_.world_size)
                                   .shards);
    }
  }
}

TEST_F(RankFullShardingMemory, OfASharedModelIsThatOfADryRun) {
  MeshGroups mesh = SplitMesh(*group_, 2);
  for (MemoryJob job : SharedJobs()) {
    for (const FullSharding& sharding :
         {kFullShardings[0], kFullShardings[3]}) {
      job.sharding = sharding;
      const JobBytes bytes = BytesOfSteps(job, *mesh.data, *mesh.tensor);
      EXPECT_EQ(DryBytesOfSteps(job, *mesh.data, *mesh.tensor), bytes)
          << TextOf(job);
      const ModelConfig part = PartOf(job.model, mesh.tensor->rank(), 2);
      EXPECT_EQ(
          bytes.traffic,
          StepTraffic(part, sharding, job.precision, mesh.data->size()).shards);
    }
  }
  mesh.Close();
}

// A dry run on a fake group needs no other ranks, so `ranks` may be any number.
JobBytes BytesOnRanks(int ranks, CommBackend backend) {
  const auto group =
      ProcessGroup::Fake({.backend = backend, .rank = 0, .size = ranks});
  return DryBytesOfSteps(JobOf(4, 8, Implementation::kTextbook), *group,
                         *group);
}

TEST(FullShardingMemoryTest, EachParameterTakes16BytesDividedByTheRanks) {
  const ModelConfig model = JobOf(4, 8, Implementation::kTextbook).model;
  EXPECT_EQ(BytesOnRanks(1, CommBackend::kGloo).bytes.built,
            16 * ParameterCount(model) + 4 * 6);
  // Not all units are divisible by five.
  int64_t padded = 0;
  for (const int64_t elements : UnitElements(model, 5)) padded += elements;
  EXPECT_GT(padded, ParameterCount(model));
  EXPECT_EQ(BytesOnRanks(5, CommBackend::kGloo).bytes.built,
            16 * padded / 5 + 4 * 6);
}

TEST(FullShardingMemoryTest, NcclHasNoBuffersOfOurs) {
  EXPECT_LT(BytesOnRanks(4, CommBackend::kNccl).bytes.peak,
            BytesOnRanks(4, CommBackend::kGloo).bytes.peak);
}

}  // namespace
}  // namespace trainbench
