// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/mesh_job.h"

#include "model/accounting/flops.h"
#include "model/accounting/parameters.h"
#include "model/distributed/fsdp/full_sharding_traffic.h"
#include "model/distributed/tensor_parallel/tensor_traffic.h"
#include "model/spec/named_models.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

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

TEST(MeshJobTest, ARankHasItsPartOfTheHeads) {
  EXPECT_EQ(PartStep(SmallOn({2, 2, 4})).model.heads, 3);
  EXPECT_EQ(PartStep(SmallOn({2, 2, 1})).model.head_width, 0);
}

TEST(MeshJobTest, TheLastRankHasTheSmallestPart) {
  MeshJob job = SmallOn({1, 1, 3});  // 10,000 words
  EXPECT_EQ(PartStep(job).model.vocab, 3334);
  job.last_rank = true;
  EXPECT_EQ(PartStep(job).model.vocab, 3333);
}

TEST(MeshTrafficTest, IsThatOfEachStrategy) {
  const MeshJob job = SmallOn({2, 4, 3});
  const PassTraffic traffic = TrafficOf(job);
  const StepParams part = PartStep(job);
  const FullShardingTraffic sharding =
      StepTraffic(part.model, job.sharding, job.precision, 4, 2);
  EXPECT_EQ(traffic.step,
            (MeshTraffic{{MeshAxis::kData, sharding.replicas},
                         {MeshAxis::kFsdp, sharding.shards},
                         {MeshAxis::kTensor, TensorTrafficOf(part, 3, true)}}));
  // Every unit is gathered forward, and blocks are gathered again backward.
  const auto gathers = [](const MeshTraffic& pass) {
    return pass.at(MeshAxis::kFsdp).Of(CollectiveKind::kAllGather).calls;
  };
  EXPECT_EQ(gathers(traffic.forward), 14);
  EXPECT_EQ(gathers(traffic.backward), 12);
  EXPECT_EQ(traffic.backward.at(MeshAxis::kData), sharding.replicas);
}

TEST(MeshTrafficTest, AlongAnAxisOfOneRankThereIsNone) {
  EXPECT_THAT(TrafficOf(SmallOn({1, 1, 1})).step, IsEmpty());
  EXPECT_THAT(TrafficOf(SmallOn({1, 1, 2})).step,
              ElementsAre(Key(MeshAxis::kTensor)));
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
