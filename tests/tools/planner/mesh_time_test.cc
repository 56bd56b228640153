// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/mesh_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/spec/named_models.h"

namespace trainbench {
namespace {

// Only links take time: 1 us per call, and 100 or 10 bytes per us.
const MeshMachine kMachine = {.flops_per_second = 1e15,
                              .bytes_per_second = 1e30,
                              .node_ranks = 8,
                              .inside = {"inside", {1, 1e-2}},
                              .between = {"between", {3, 1e-1}}};
MeshJob SmallTimedOn(const MeshShape& mesh) {
  MeshJob job;
  job.mesh = mesh;
  job.model = *FindModel("small", StandardModels());
  job.seq = 256;
  return job;
}

using Part = WorkByPart::key_type;

// Returns a forward pass with `flops` per sequence and a backward pass with
// twice as many.
RankWork WorkOf(double flops) {
  const Part forward = {Phase::kForward, Component::kFfn};
  const Part backward = {Phase::kBackward, Component::kFfn};
  RankWork work;
  work.step[forward] = work.of_sequence[forward] = {.flops = flops};
  work.step[backward] = work.of_sequence[backward] = {.flops = 2 * flops};
  return work;
}

TEST(LinkOfTest, GroupsOfOneNodeStayInside) {
  const MeshShape mesh = {4, 2, 4};
  for (const MeshAxis axis : {MeshAxis::kTensor, MeshAxis::kFsdp}) {
    EXPECT_EQ(LinkOf(mesh, axis, kMachine).us_per_byte, 1e-2);
    EXPECT_EQ(LinkOf(mesh, axis, kMachine).alpha_us, 1);
  }
  const AlphaBeta data = LinkOf(mesh, MeshAxis::kData, kMachine);
  EXPECT_EQ(data.us_per_byte, 1e-1);  // each rank alone in its node
  EXPECT_EQ(data.alpha_us, 3);
}

TEST(LinkOfTest, ARingCrossesOnAsManyLinksAsItHasRanksInANode) {
  EXPECT_EQ(LinkOf({1, 16, 2}, MeshAxis::kFsdp, kMachine).us_per_byte,
            1e-1 / 4);
  EXPECT_EQ(LinkOf({16, 1, 4}, MeshAxis::kData, kMachine).us_per_byte,
            1e-1 / 2);
  // Between nodes is never faster than inside a node.
  MeshMachine wide = kMachine;
  wide.between.call.us_per_byte = 2e-2;
  EXPECT_EQ(LinkOf({1, 64, 1}, MeshAxis::kFsdp, wide).us_per_byte, 1e-2);
}

TEST(LinkOfTest, AGroupThatLiesAcrossTwoNodesLeavesThem) {
  EXPECT_EQ(LinkOf({1, 2, 6}, MeshAxis::kTensor, kMachine).alpha_us, 3);
}

TEST(MeshTimeTest, OneRankComputesAllTheTime) {
  const MeshJob job = SmallTimedOn({1, 1, 1});
  const MeshTime time = TimeOf(job, WorkOf(1e12), kMachine);
  EXPECT_NEAR(time.step_us(), 3000, 1e-3);
  EXPECT_NEAR(time.backward.compute_us, 2 * time.forward.compute_us, 1e-6);
  EXPECT_EQ(time.bound(), MeshBound::kCompute);
  EXPECT_TRUE(time.is_compute_bound());
}

TEST(MeshTimeTest, APassTakesTheLongerOfWhatOverlaps) {
  MeshTime time;
  time.forward = {10, 4, 13, 0};
  time.backward = {20, 8, 17, 12};
  time.update_us = 1;
  EXPECT_EQ(time.Us(MeshBound::kCompute), 10);
  EXPECT_EQ(time.Us(MeshBound::kTensor), 4);
  EXPECT_EQ(time.Us(MeshBound::kFsdp), 17);
  EXPECT_EQ(time.Us(MeshBound::kData), 12);
  EXPECT_EQ(time.step_us(), 14 + 29 + 1);
  EXPECT_EQ(time.bound(), MeshBound::kFsdp);
  EXPECT_FALSE(time.is_compute_bound());
  time.overlaps = false;
  EXPECT_EQ(time.step_us(), 27 + 57 + 1);
  EXPECT_EQ(time.bound(), MeshBound::kCompute);
}

TEST(MeshTimeTest, EachGroupHasItsCallsAndItsBytes) {
  const MeshJob job = SmallTimedOn({16, 4, 2});
  const MeshTime time = TimeOf(job, WorkOf(1e12), kMachine);
  const PassTraffic traffic = TrafficOf(job);
  const auto us = [&](const MeshTraffic& pass, MeshAxis axis) {
    const AlphaBeta link = LinkOf(job.mesh, axis, kMachine);
    const Traffic& calls = pass.at(axis);
    return static_cast<double>(calls.All().calls) * link.alpha_us +
           link.us_per_byte * calls.SentBytes(job.mesh.Size(axis));
  };
  EXPECT_DOUBLE_EQ(time.forward.fsdp_us, us(traffic.forward, MeshAxis::kFsdp));
  EXPECT_DOUBLE_EQ(time.backward.fsdp_us,
                   us(traffic.backward, MeshAxis::kFsdp));
  EXPECT_DOUBLE_EQ(time.backward.data_us,
                   us(traffic.backward, MeshAxis::kData));
  EXPECT_DOUBLE_EQ(time.forward.tensor_us,
                   us(traffic.forward, MeshAxis::kTensor));
  EXPECT_EQ(time.forward.data_us, 0);
}

// 1e9 FLOP and 1e3 bytes take a second each.
TEST(MeshTimeTest, AComponentTakesItsProductsOrItsBytesWhateverIsLonger) {
  MeshMachine machine = kMachine;
  machine.flops_per_second = 1e9;
  machine.bytes_per_second = 1e3;
  MeshJob job = SmallTimedOn({1, 1, 1});
  job.model.attention = AttentionKind::kSdpaFlash;
  const auto seconds = [&](const Part& part, DryWork all, DryWork of_sequence) {
    const RankWork work = {.batch = 2,
                           .step = {{part, all}},
                           .of_sequence = {{part, of_sequence}}};
    const MeshTime time = TimeOf(job, work, machine);
    return (time.forward.compute_us + time.backward.compute_us) / 1e6;
  };
  using enum Component;
  job.batch = 5;
  EXPECT_DOUBLE_EQ(
      seconds({Phase::kForward, kFfn}, {.flops = 7e9, .bytes = 4e3},
              {.flops = 1e9, .bytes = 1e3}),
      10);
  EXPECT_DOUBLE_EQ(
      seconds({Phase::kBackward, kNorm}, {.bytes = 4e3}, {.bytes = 1e3}), 7);
  // Half of the square is masked, and skipped.
  EXPECT_DOUBLE_EQ(seconds({Phase::kForward, kFusedAttention}, {.flops = 2e9},
                           {.flops = 1e9}),
                   2.5);
  EXPECT_DOUBLE_EQ(seconds({Phase::kOptimizer, kOptimizer}, {.bytes = 1e9}, {}),
                   0);
}

TEST(RankWorkTest, OneSequenceMoreAddsTheDifference) {
  const Part part = {Phase::kLoss, Component::kCrossEntropy};
  const RankWork work = RankWork::Of(3, {{part, {.flops = 1, .bytes = 10}}},
                                     {{part, {.flops = 5, .bytes = 12}}});
  EXPECT_EQ(work.batch, 3);
  EXPECT_EQ(work.step.at(part).bytes, 10);
  EXPECT_EQ(work.of_sequence.at(part).flops, 4);
  EXPECT_EQ(work.of_sequence.at(part).bytes, 2);
}

TEST(MeshTimeTest, AdamWMovesTwentyEightBytesForEachParameterOfTheShard) {
  MeshMachine machine = kMachine;
  machine.bytes_per_second = 1e6;
  const MeshJob job = SmallTimedOn({1, 4, 1});
  const auto shard = static_cast<double>(ShardElements(job));
  EXPECT_NEAR(TimeOf(job, {}, machine).update_us, 28 * shard, 1);
}

TEST(ComputeBoundBatchTest, IsTheSmallestThatHidesTheGathers) {
  MeshJob job = SmallTimedOn({2, 8, 1});
  const auto batch = ComputeBoundBatch(job, WorkOf(1e11), kMachine);
  ASSERT_TRUE(batch.has_value());
  EXPECT_GT(*batch, 1);
  job.batch = *batch;
  EXPECT_TRUE(TimeOf(job, WorkOf(1e11), kMachine).is_compute_bound());
  --job.batch;
  EXPECT_FALSE(TimeOf(job, WorkOf(1e11), kMachine).is_compute_bound());
}

TEST(ComputeBoundBatchTest, IsNoneIfTensorRanksSendLongerThanTheyCompute) {
  MeshMachine slow = kMachine;
  slow.inside.call.us_per_byte = 1e3;
  EXPECT_EQ(ComputeBoundBatch(SmallTimedOn({1, 1, 2}), WorkOf(1e11), slow),
            std::nullopt);
}

}  // namespace
}  // namespace trainbench
