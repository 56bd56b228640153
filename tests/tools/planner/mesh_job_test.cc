// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/mesh_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/accounting/communication.h"
#include "model/accounting/flops.h"
#include "model/accounting/parameters.h"
#include "model/distributed/fsdp/full_sharding_traffic.h"
#include "model/distributed/tensor_parallel/tensor_traffic.h"

namespace trainbench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

MeshJob SmallOn(const MeshShape& mesh) {
  MeshJob job;
  job.mesh = mesh;
  job.model = *FindModel("small", StandardModels());
  job.model.implementation = Implementation::kFused;
  job.model.attention = AttentionKind::kOwn;
  job.batch = 2;
  job.seq = 256;
  return job;
}

CollectiveCalls Of(const std::vector<CollectiveCalls>& all, MeshAxis axis,
                   CollectiveKind kind) {
  for (const CollectiveCalls& calls : all) {
    if (calls.axis == axis && calls.kind == kind) return calls;
  }
  return {axis, kind};
}

TEST(MeshJobTest, ARankHasItsPartOfTheHeads) {
  MeshJob job = SmallOn({2, 2, 4});
  EXPECT_TRUE(Validate(job).ok());
  EXPECT_EQ(PartStep(job).model.heads, 3);
  EXPECT_EQ(PartStep(SmallOn({2, 2, 1})).model.head_width, 0);
  job.mesh.tensor = 5;
  EXPECT_THAT(std::string(Validate(job).message()),
              HasSubstr("5 ranks share the 12 heads of small"));
}

TEST(MeshJobTest, TheLastRankHasTheSmallestPart) {
  MeshJob job = SmallOn({1, 1, 3});  // 10,000 words
  EXPECT_EQ(PartStep(job).model.vocab, 3334);
  job.last_rank = true;
  EXPECT_EQ(PartStep(job).model.vocab, 3333);
}

TEST(MeshTrafficTest, IsThatOfEachStrategy) {
  const MeshJob job = SmallOn({2, 4, 3});
  const MeshTraffic traffic = TrafficOf(job);
  const StepParams part = PartStep(job);
  const FullShardingTraffic sharding =
      StepTraffic(part.model, job.sharding, job.precision, 4, 2);
  const std::vector<CollectiveCalls> step = traffic.Step();
  EXPECT_THAT(step, SizeIs(4));
  using enum CollectiveKind;
  EXPECT_EQ(Of(step, MeshAxis::kFsdp, kAllGather),
            (CollectiveCalls{MeshAxis::kFsdp, kAllGather, sharding.gathers,
                             sharding.gathered_bytes}));
  EXPECT_EQ(Of(step, MeshAxis::kFsdp, kReduceScatter).bytes,
            sharding.reduced_bytes);
  EXPECT_EQ(Of(step, MeshAxis::kData, kAllReduce).bytes,
            sharding.averaged_bytes);
  EXPECT_EQ(Of(step, MeshAxis::kTensor, kAllReduce).bytes,
            TensorTrafficOf(part, /*ranks=*/3, /*backward=*/true).bytes);
  // Every unit is gathered forward, blocks again backward.
  EXPECT_EQ(Of(traffic.forward, MeshAxis::kFsdp, kAllGather).calls, 14);
  EXPECT_EQ(Of(traffic.backward, MeshAxis::kFsdp, kAllGather).calls, 12);
  EXPECT_EQ(Of(traffic.forward, MeshAxis::kData, kAllReduce).calls, 0);
}

TEST(MeshTrafficTest, AlongAnAxisOfOneRankThereIsNone) {
  EXPECT_THAT(TrafficOf(SmallOn({1, 1, 1})).Step(), IsEmpty());
  const auto tensor = TrafficOf(SmallOn({1, 1, 2})).Step();
  ASSERT_THAT(tensor, SizeIs(1));
  EXPECT_EQ(tensor[0].axis, MeshAxis::kTensor);
}

TEST(MeshTrafficTest, SendsWhatARingSends) {
  const CollectiveCalls all = {MeshAxis::kData, CollectiveKind::kAllReduce, 1,
                               800};
  EXPECT_EQ(all.SentBytes(8), RingAllReduceBytes(800, 8));
  const CollectiveCalls gather = {MeshAxis::kFsdp, CollectiveKind::kAllGather,
                                  1, 800};
  EXPECT_EQ(gather.SentBytes(8), 700);
}

TEST(MeshJobTest, RanksShareTheParametersButForPadding) {
  const int64_t whole = ShardElements(SmallOn({1, 1, 1}));
  EXPECT_EQ(whole, ParameterCount(SmallOn({1, 1, 1}).model));
  EXPECT_EQ(8 * ShardElements(SmallOn({3, 8, 1})), whole);
  const int64_t units = 14;
  const int64_t padded = 7 * ShardElements(SmallOn({1, 7, 1}));
  EXPECT_GT(padded, whole);
  EXPECT_LT(padded, whole + 7 * units);
}

TEST(MeshFlopsTest, RanksThatShareMatricesShareTheFlops) {
  const MeshFlops whole = FlopsOf(SmallOn({1, 1, 1}));
  const MeshFlops part = FlopsOf(SmallOn({2, 4, 2}));
  EXPECT_DOUBLE_EQ(2 * part.forward, whole.forward);
  EXPECT_DOUBLE_EQ(whole.backward, 2 * whole.forward);
  EXPECT_EQ(whole.recomputed, 0);
}

TEST(MeshFlopsTest, AMaskHidesHalfOfAttentionFromKernelsThatSkipIt) {
  MeshJob job = SmallOn({1, 1, 1});
  const double own = FlopsOf(job).forward;
  job.model.attention = AttentionKind::kNaive;
  const double attention =
      12 * LayerAttentionFlops(job.model, job.batch, job.seq);
  EXPECT_DOUBLE_EQ(FlopsOf(job).forward - own, attention / 2);
  job.model.checkpointing = *ParseCheckpointing("every_1");
  EXPECT_DOUBLE_EQ(
      FlopsOf(job).recomputed,
      RecomputedFlops(job.model, job.batch, job.seq, StepMode::kTrainStep));
}

}  // namespace
}  // namespace trainbench
