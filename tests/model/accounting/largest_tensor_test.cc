// SPDX-License-Identifier: MIT

#include "model/accounting/largest_tensor.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "fixtures/memory/allocation_recorder.h"
#include "model/nn/dtype.h"
#include "model/training/train_step.h"

namespace trainbench {
namespace {

// Of all tensors of a recorded step, its parameters included.
int64_t LargestRecorded(const MemoryQuery& query) {
  at::set_num_threads(1);
  at::manual_seed(1);
  AllocationRecorder recorder{c10::Device(c10::kCPU)};
  TransformerLm model(nullptr);
  Batch batch;
  recorder.Observe([&] {
    model = TransformerLm(
        query.config, at::TensorOptions().dtype(WeightType(query.precision)));
    batch = RandomBatch(query.config.vocab, query.batch, query.seq, at::kCPU);
  });
  const AllocationTimeline timeline =
      recorder.Record([&](PhaseObserver& phases) {
        RunStep(query.mode, model, nullptr, batch, query.precision, phases);
      });
  int64_t largest = 0;
  for (const RecordedBlock& block : timeline.blocks) {
    if (!block.by_library) largest = std::max(largest, block.tensor_bytes);
  }
  return largest;
}

TEST(LargestTensorTest, IsThatOfARecordedStep) {
  struct Shape {
    ModelConfig config;
    int64_t batch, seq;
  };
  for (const Shape& shape :
       {Shape{{"vocabulary", 32, 64, 1, 2, 800}, 1, 8},
        Shape{{"tokens", 32, 64, 1, 2, 800}, 4, 32},
        Shape{{"context", 32, 64, 2, 4, 64}, 1, 256},
        Shape{{"hidden", 32, 640, 2, 2, 64}, 4, 48},
        Shape{{"matrix", 32, 640, 2, 2, 64}, 1, 8},
        Shape{{"sdpa", 32, 64, 2, 4, 640, AttentionKind::kSdpa}, 1, 256}}) {
    for (const Precision precision : kPrecisions) {
      for (const StepMode mode :
           {StepMode::kInference, StepMode::kForwardBackward}) {
        const MemoryQuery query = {shape.config, shape.batch, shape.seq,
                                   precision, mode};
        const LargeTensor largest = LargestTensor(query);
        EXPECT_EQ(largest.bytes, LargestRecorded(query))
            << shape.config.name << " " << PrecisionName(precision) << " "
            << StepModeName(mode) << ": " << largest.name;
      }
    }
  }
}

// 2.7B at 4 x 512: a score matrix has 128 MiB, the logits 78.
TEST(LargestTensorTest, OfTheLargestModelAreTheScores) {
  const LargeTensor largest =
      LargestTensor({*FindModel("2.7B", StandardModels()), 4, 512});
  EXPECT_EQ(largest.name, "scores");
  EXPECT_EQ(largest.component, Component::kScores);
  EXPECT_EQ(largest.bytes, int64_t{128} << 20);
}

TEST(LargestTensorTest, OfAJobThatNobodyCanCountIsUnknown) {
  const int64_t size = int64_t{1} << 20;
  EXPECT_EQ(
      LargestTensor({{"m", size, size, size, size / 2}, size, size}).bytes, 0);
}

}  // namespace
}  // namespace trainbench
