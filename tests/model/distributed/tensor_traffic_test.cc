// SPDX-License-Identifier: MIT
// The predicted traffic of a tensor-parallel rank, compared with a real step's.

#include "model/distributed/tensor_parallel/tensor_traffic.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <string>
#include <vector>

#include "model/distributed/tensor_parallel/tensor_parallel_lm.h"
#include "model/nn/dtype.h"
#include "model/training/train_step.h"
#include "tests/support/fake_group.h"

namespace trainbench {
namespace {

// A step of a model that `ranks` ranks share.
struct Division {
  StepParams whole;
  int64_t ranks = 1;
};

// Jobs that keep all activations, recompute attention, or recompute segments of
// one or two blocks.
std::vector<Division> Divisions(Precision precision) {
  using enum Checkpointing::Kind;
  std::vector<Division> jobs;
  for (const Implementation implementation : kImplementations) {
    for (const int64_t ranks : {2, 4}) {
      ModelConfig whole = {
          "m", 64, 162, 3, 4, 101, AttentionOf(implementation), implementation};
      for (const Checkpointing& checkpointing :
           {Checkpointing{}, Checkpointing{kAttention},
            Checkpointing{kBlocks, 1}, Checkpointing{kBlocks, 2}}) {
        whole.checkpointing = checkpointing;
        jobs.push_back(
            {{whole, precision, StepMode::kForwardBackward, 2, 48}, ranks});
      }
    }
  }
  return jobs;
}

std::string TextOf(const Division& job) {
  return FormatModel(job.whole.model) + " " +
         std::string(PrecisionName(job.whole.precision)) + " of " +
         std::to_string(job.ranks);
}

// Returns the traffic of rank 0 on a group that sums nothing.
Traffic TrafficOfStep(const Division& job) {
  const StepParams& step = job.whole;
  FakeGroup group(/*rank=*/0, static_cast<int>(job.ranks));
  TensorRanks ranks(step.model, group);
  TransformerLm part = MakePart(ranks, at::dtype(WeightType(step.precision)));
  const Batch batch =
      RandomBatch(step.model.vocab, step.batch, step.seq, at::kCPU);
  const CollectiveRecorder recorder(group);
  RunStep(step.mode, part, nullptr, batch, step.precision);
  return recorder.traffic();
}

TEST(TensorTrafficTest, IsWhatAStepExchangesToTheByte) {
  for (const Precision precision :
       {Precision::kFp32, Precision::kBf16Autocast, Precision::kBf16}) {
    for (const Division& job : Divisions(precision)) {
      SCOPED_TRACE(TextOf(job));
      StepParams part = job.whole;
      part.model = PartOf(part.model, /*rank=*/0, job.ranks);
      const Traffic step = TensorTrafficOf(part, job.ranks, /*backward=*/true);
      EXPECT_EQ(TrafficOfStep(job), step);
      // The loss is in both passes; all other calls belong to one of them.
      const Traffic backward =
          step - TensorTrafficOf(part, job.ranks, /*backward=*/false);
      const bool again =
          part.model.checkpointing.kind == Checkpointing::Kind::kBlocks;
      EXPECT_EQ(backward.All().calls, (again ? 2 : 1) * 2 * 3 + 1);
    }
  }
}

TEST(TensorTrafficTest, OneRankExchangesNothing) {
  EXPECT_EQ(TensorTrafficOf({}, /*ranks=*/1, /*backward=*/true), Traffic());
}

}  // namespace
}  // namespace trainbench
