// SPDX-License-Identifier: MIT
// The predicted traffic of a tensor-parallel rank, compared with a real step's.

#include "model/distributed/tensor_parallel/tensor_traffic.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <vector>

#include "model/distributed/tensor_parallel/tensor_parallel_lm.h"
#include "model/nn/dtype.h"
#include "model/training/train_step.h"

namespace trainbench {
namespace {

// Steps that keep all activations, recompute attention, or recompute segments
// of one or two blocks.
std::vector<StepParams> Steps() {
  using enum Checkpointing::Kind;
  std::vector<StepParams> steps;
  for (const Precision precision :
       {Precision::kFp32, Precision::kBf16Autocast, Precision::kBf16}) {
    for (const Implementation implementation : kImplementations) {
      ModelConfig model = {
          "m", 64, 162, 3, 4, 101, AttentionOf(implementation), implementation};
      for (const Checkpointing& checkpointing :
           {Checkpointing{}, Checkpointing{kAttention},
            Checkpointing{kBlocks, 1}, Checkpointing{kBlocks, 2}}) {
        model.checkpointing = checkpointing;
        steps.push_back({model, precision, StepMode::kForwardBackward, 2, 48});
      }
    }
  }
  return steps;
}

// Returns the traffic of rank 0 on a group that sums nothing.
Traffic TrafficOfStep(const StepParams& step, int size) {
  const auto group = ProcessGroup::Fake({.size = size});
  TensorRanks ranks(step.model, *group);
  TransformerLm part = MakePart(ranks, at::dtype(WeightType(step.precision)));
  const Batch batch =
      RandomBatch(step.model.vocab, step.batch, step.seq, at::kCPU);
  const CollectiveRecorder recorder(*group);
  RunStep(step.mode, part, nullptr, batch, step.precision);
  return recorder.traffic();
}

TEST(TensorTrafficTest, IsWhatAStepExchangesToTheByte) {
  for (const StepParams& whole : Steps()) {
    for (const int ranks : {2, 4}) {
      SCOPED_TRACE(c10::str(FormatModel(whole.model), " ",
                            PrecisionName(whole.precision), " of ", ranks));
      StepParams part = whole;
      part.model = PartOf(part.model, /*rank=*/0, ranks);
      const Traffic step = TensorTrafficOf(part, ranks, /*backward=*/true);
      EXPECT_EQ(TrafficOfStep(whole, ranks), step);
      // The loss is in both passes; all other calls belong to one of them.
      const Traffic backward =
          step - TensorTrafficOf(part, ranks, /*backward=*/false);
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
