// SPDX-License-Identifier: MIT

#include "model/accounting/parallel_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace trainbench {
namespace {

// The XXL model on TPUs v5p.
LayerJob Job() {
  return {.tokens = 1 << 20,
          .d_model = 16384,
          .d_ff = 53248,
          .flops_per_second = 4.6e14,
          .link_bytes_per_second = 1.8e11};
}

bool IsComputeBound(Split split, Pass pass, double devices) {
  const LayerSeconds time = SplitSeconds(split, pass, Job(), devices);
  return time.communication <= time.compute;
}

TEST(SplitTest, BoundsOfTheAssignment) {
  const LayerJob job = Job();
  const double ratio = job.link_bytes_per_second / job.flops_per_second;
  const auto bound = [&](Split split, Pass pass) {
    return LargestSplit(split, pass, job);
  };
  EXPECT_DOUBLE_EQ(bound(Split::kData, Pass::kBackward),
                   1 + job.tokens * ratio);
  EXPECT_DOUBLE_EQ(bound(Split::kFsdp, Pass::kForward), 1 + job.tokens * ratio);
  EXPECT_DOUBLE_EQ(bound(Split::kFsdp, Pass::kBackward),
                   1 + job.tokens * ratio);
  EXPECT_DOUBLE_EQ(bound(Split::kTensor, Pass::kForward),
                   1 + 1.5 * job.d_ff * ratio);
  EXPECT_DOUBLE_EQ(bound(Split::kTensor, Pass::kBackward),
                   1 + 3 * job.d_ff * ratio);
  EXPECT_TRUE(std::isinf(bound(Split::kData, Pass::kForward)));
}

TEST(SplitTest, TimesOfTheAssignment) {
  const LayerJob job = Job();
  const double bdf = job.tokens * job.d_model * job.d_ff;
  const double df = job.d_model * job.d_ff, bd = job.tokens * job.d_model;
  const double n = 8, c = job.flops_per_second, w = job.link_bytes_per_second;
  const auto seconds = [&](Split split, Pass pass) {
    return SplitSeconds(split, pass, job, n);
  };
  for (const Split split : {Split::kData, Split::kFsdp, Split::kTensor}) {
    EXPECT_DOUBLE_EQ(seconds(split, Pass::kForward).compute, 6 * bdf / n / c);
    EXPECT_DOUBLE_EQ(seconds(split, Pass::kBackward).compute, 12 * bdf / n / c);
  }
  const double others = (n - 1) / n / w;
  EXPECT_EQ(seconds(Split::kData, Pass::kForward).communication, 0);
  EXPECT_DOUBLE_EQ(seconds(Split::kData, Pass::kBackward).communication,
                   12 * df * others);
  EXPECT_DOUBLE_EQ(seconds(Split::kFsdp, Pass::kForward).communication,
                   6 * df * others);
  EXPECT_DOUBLE_EQ(seconds(Split::kFsdp, Pass::kBackward).communication,
                   12 * df * others);
  for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
    EXPECT_DOUBLE_EQ(seconds(Split::kTensor, pass).communication,
                     4 * bd * others);
  }
}

TEST(SplitTest, OneDeviceMoreThanTheBoundWaits) {
  for (const Split split : {Split::kData, Split::kFsdp, Split::kTensor}) {
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      const double bound = std::floor(LargestSplit(split, pass, Job()));
      if (std::isinf(bound)) continue;
      EXPECT_GT(bound, 1);
      EXPECT_TRUE(IsComputeBound(split, pass, bound));
      EXPECT_FALSE(IsComputeBound(split, pass, bound + 1));
    }
  }
}

TEST(SplitTest, OneDeviceSendsNothing) {
  for (const Split split : {Split::kData, Split::kFsdp, Split::kTensor}) {
    EXPECT_EQ(SplitSeconds(split, Pass::kBackward, Job(), 1).communication, 0);
  }
}

// The most devices of any whole mesh that does not wait.
double MostDevices(const LayerJob& job, bool overlap) {
  double most = 0;
  for (double x = 1; x < 600; ++x) {
    for (double y = 1; y < 50; ++y) {
      const MeshSeconds time = MeshForwardSeconds(job, {x, y});
      const double communication =
          overlap ? std::max(time.fsdp, time.tensor) : time.fsdp + time.tensor;
      if (communication <= time.compute) most = std::max(most, x * y);
    }
  }
  return most;
}

TEST(MeshTest, NoWholeMeshHasMoreDevices) {
  for (const bool overlap : {true, false}) {
    // Also where weights or activations alone allow little.
    for (const double tokens : {1048576.0, 2048.0, 100.0}) {
      LayerJob job = Job();
      job.tokens = tokens;
      const double bound = LargestMesh(job, overlap).devices();
      const double most = MostDevices(job, overlap);
      EXPECT_LE(most, bound) << tokens << " " << overlap;
      // Whole numbers cost less than one device in either direction.
      const Mesh mesh = LargestMesh(job, overlap);
      EXPECT_GE(most, std::floor(mesh.fsdp) * std::floor(mesh.tensor))
          << tokens << " " << overlap;
    }
  }
}

TEST(MeshTest, LargestIsJustComputeBound) {
  for (const bool overlap : {true, false}) {
    const Mesh mesh = LargestMesh(Job(), overlap);
    const MeshSeconds time = MeshForwardSeconds(Job(), mesh);
    const double communication =
        overlap ? std::max(time.fsdp, time.tensor) : time.fsdp + time.tensor;
    EXPECT_NEAR(communication, time.compute, 1e-9 * time.compute);
  }
}

TEST(MeshTest, LimitsOfTheAssignment) {
  LayerJob job = Job();
  const double ratio = job.link_bytes_per_second / job.flops_per_second;
  const double limit = job.tokens * job.d_ff * ratio * ratio;
  EXPECT_DOUBLE_EQ(LargestMeshLimit(job, true), 1.5 * limit);
  EXPECT_DOUBLE_EQ(LargestMeshLimit(job, false), 0.375 * limit);
  // On fast links the bound comes to it.
  job.link_bytes_per_second *= 1e4;
  for (const bool overlap : {true, false}) {
    EXPECT_NEAR(LargestMesh(job, overlap).devices(),
                LargestMeshLimit(job, overlap),
                1e-4 * LargestMeshLimit(job, overlap));
  }
}

TEST(MeshTest, AMeshOfOneDirectionIsThatSplit) {
  const MeshSeconds fsdp = MeshForwardSeconds(Job(), {8, 1});
  const LayerSeconds split =
      SplitSeconds(Split::kFsdp, Pass::kForward, Job(), 8);
  EXPECT_DOUBLE_EQ(fsdp.fsdp, split.communication);
  EXPECT_DOUBLE_EQ(fsdp.compute, split.compute);
  EXPECT_EQ(fsdp.tensor, 0);
}

TEST(SplitTest, OtherWidthsAndMatrices) {
  LayerJob job = Job();
  job.value_bytes = 4;
  EXPECT_DOUBLE_EQ(LargestSplit(Split::kFsdp, Pass::kForward, job) - 1,
                   (LargestSplit(Split::kFsdp, Pass::kForward, Job()) - 1) / 2);
  job = Job();
  job.matrices = 2;
  EXPECT_DOUBLE_EQ(
      LargestSplit(Split::kTensor, Pass::kForward, job) - 1,
      (LargestSplit(Split::kTensor, Pass::kForward, Job()) - 1) / 1.5);
  EXPECT_DOUBLE_EQ(LargestSplit(Split::kData, Pass::kBackward, job),
                   LargestSplit(Split::kData, Pass::kBackward, Job()));
}

}  // namespace
}  // namespace trainbench
