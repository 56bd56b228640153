// SPDX-License-Identifier: MIT

#include "model/accounting/parallel/parallel_bounds.h"

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

// The definition behind the bounds: whether one pass on `n` devices computes
// for at least as long as it communicates.
bool IsComputeBound(Split split, Pass pass, const LayerJob& job, double n) {
  const double passes = pass == Pass::kForward ? 1 : 2;
  const double compute = passes * 2 * job.matrices * job.tokens * job.d_model *
                         job.d_ff / n / job.flops_per_second;
  const double sent = split == Split::kTensor
                          ? 2 * job.tokens * job.d_model
                          : passes * job.matrices * job.d_model * job.d_ff;
  return job.value_bytes * sent * (n - 1) / n / job.link_bytes_per_second <=
         compute;
}

// The forward pass on a mesh.
struct Seconds {
  double compute = 0;
  double communication = 0;
};

Seconds MeshForward(const LayerJob& job, const Mesh& mesh, bool overlap) {
  const double devices = mesh.fsdp * mesh.tensor;
  const double link = job.link_bytes_per_second;
  const double gather = job.value_bytes * job.matrices * job.d_model *
                        job.d_ff * (mesh.fsdp - 1) / devices / link;
  const double reduce = 2 * job.value_bytes * job.tokens * job.d_model *
                        (mesh.tensor - 1) / devices / link;
  return {2 * job.matrices * job.tokens * job.d_model * job.d_ff / devices /
              job.flops_per_second,
          overlap ? std::max(gather, reduce) : gather + reduce};
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

TEST(SplitTest, OneDeviceMoreThanTheBoundWaits) {
  for (const Split split : {Split::kData, Split::kFsdp, Split::kTensor}) {
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      const double bound = std::floor(LargestSplit(split, pass, Job()));
      if (std::isinf(bound)) continue;
      EXPECT_GT(bound, 1);
      EXPECT_TRUE(IsComputeBound(split, pass, Job(), bound));
      EXPECT_FALSE(IsComputeBound(split, pass, Job(), bound + 1));
    }
  }
}

// The most devices of a compute-bound mesh of whole numbers.
double MostDevices(const LayerJob& job, bool overlap) {
  double most = 0;
  for (double x = 1; x < 600; ++x) {
    for (double y = 1; y < 50; ++y) {
      const Seconds time = MeshForward(job, {x, y}, overlap);
      if (time.communication <= time.compute) most = std::max(most, x * y);
    }
  }
  return most;
}

TEST(MeshTest, NoWholeMeshHasMoreDevices) {
  for (const bool overlap : {true, false}) {
    // Few tokens leave little room for FSDP ranks.
    for (const double tokens : {1048576.0, 2048.0, 100.0}) {
      LayerJob job = Job();
      job.tokens = tokens;
      const double bound = LargestMesh(job, overlap).devices();
      const double most = MostDevices(job, overlap);
      EXPECT_LE(most, bound) << tokens << " " << overlap;
      // Rounding to whole numbers loses less than one device per direction.
      const Mesh mesh = LargestMesh(job, overlap);
      EXPECT_GE(most, std::floor(mesh.fsdp) * std::floor(mesh.tensor))
          << tokens << " " << overlap;
    }
  }
}

TEST(MeshTest, LargestIsJustComputeBound) {
  for (const bool overlap : {true, false}) {
    const Seconds time =
        MeshForward(Job(), LargestMesh(Job(), overlap), overlap);
    EXPECT_NEAR(time.communication, time.compute, 1e-9 * time.compute);
  }
}

TEST(MeshTest, LimitsOfTheAssignment) {
  LayerJob job = Job();
  const double ratio = job.link_bytes_per_second / job.flops_per_second;
  const double limit = job.tokens * job.d_ff * ratio * ratio;
  EXPECT_DOUBLE_EQ(LargestMeshLimit(job, true), 1.5 * limit);
  EXPECT_DOUBLE_EQ(LargestMeshLimit(job, false), 0.375 * limit);
  // On fast links the largest mesh reaches its limit.
  job.link_bytes_per_second *= 1e4;
  for (const bool overlap : {true, false}) {
    EXPECT_NEAR(LargestMesh(job, overlap).devices(),
                LargestMeshLimit(job, overlap),
                1e-4 * LargestMeshLimit(job, overlap));
  }
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
