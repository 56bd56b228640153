// SPDX-License-Identifier: MIT
// The list of saved tensors against the sum and against what a recorded
// step keeps.

#include "model/accounting/saved_tensors.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fixtures/memory/allocation_recorder.h"
#include "fixtures/memory/allocation_summary.h"
#include "model/accounting/memory.h"
#include "model/nn/dtype.h"
#include "model/training/train_step.h"

namespace trainbench {
namespace {

std::vector<MemoryQuery> SavedQueries() {
  std::vector<MemoryQuery> queries;
  for (const Precision precision : kPrecisions) {
    for (const int64_t batch : {1, 3}) {
      for (const AttentionKind kind : AttentionKinds()) {
        if (!AttentionUnavailable(kind, DeviceKind::kCpu, true, 16).empty()) {
          continue;
        }
        const std::string name(AttentionName(kind));
        queries.push_back(
            {{name, 64, 192, 3, 4, 101, kind}, batch, 48, precision});
      }
    }
  }
  return queries;
}

std::string NameOf(const MemoryQuery& query) {
  return query.config.name + " " + std::to_string(query.batch) + " " +
         std::string(PrecisionName(query.precision));
}

TEST(SavedTensorsTest, AddUpToTheirSum) {
  for (MemoryQuery query : SavedQueries()) {
    for (const bool on_gpu : {false, true}) {
      query.on_gpu = on_gpu;
      int64_t block = 0, all = 0;
      for (const SavedTensor& tensor : SavedTensorsOfBlock(query)) {
        block += tensor.bytes();
      }
      EXPECT_EQ(block, SavedBytesPerBlock(query)) << NameOf(query);
      for (const SavedByComponent& part : SavedComponents(query)) {
        all += part.bytes;
      }
      EXPECT_EQ(all, SavedBytes(query)) << NameOf(query);
    }
  }
}

TEST(SavedTensorsTest, OfRecomputedBlocksAreTheInputsOfTheSegments) {
  for (const Implementation implementation : kImplementations) {
    MemoryQuery query = {{"m", 64, 192, 23, 4, 101}, 2, 48};
    query.config.implementation = implementation;
    query.config.checkpointing = {Checkpointing::Kind::kBlocks, 4};
    int64_t all = 0;
    for (const SavedByComponent& part : SavedComponents(query)) {
      all += part.bytes;
    }
    EXPECT_EQ(all, SavedBytes(query));
    // Six segments: what five of them hand on, what the last one makes, and the
    // embedded tokens.
    const int64_t x = 4 * 2 * 48 * 64;
    const bool fused = implementation == Implementation::kFused;
    EXPECT_EQ(SavedBytesPerBlock(query), fused ? 2 * x : x);
    int64_t outside = 0;
    for (const SavedTensor& tensor : SavedTensorsOutsideBlocks(query)) {
      outside += tensor.bytes();
    }
    EXPECT_EQ(all - outside, 5 * SavedBytesPerBlock(query) + x);
  }
}

TEST(SavedTensorsTest, InferenceSavesNone) {
  MemoryQuery query = SavedQueries().front();
  query.mode = StepMode::kInference;
  EXPECT_TRUE(SavedTensorsOfBlock(query).empty());
  EXPECT_TRUE(SavedComponents(query).empty());
}

TEST(SavedTensorsTest, AJobThatNobodyCanCountHasNone) {
  MemoryQuery query = SavedQueries().front();
  query.batch = query.seq = int64_t{1} << 20;
  query.config.layers = int64_t{1} << 20;
  ASSERT_FALSE(IsCountable(query));
  EXPECT_TRUE(SavedComponents(query).empty());
}

// What a layer of a real step keeps until its backward pass.
std::vector<RecordedBlock> Recorded(const MemoryQuery& query, int64_t layer) {
  at::set_num_threads(1);
  at::manual_seed(1);
  TransformerLm model(query.config,
                      at::TensorOptions().dtype(WeightType(query.precision)));
  const Batch batch =
      RandomBatch(query.config.vocab, query.batch, query.seq, at::kCPU);
  AllocationRecorder recorder{c10::Device(c10::kCPU)};
  const auto run = [&](PhaseObserver& phases) {
    RunStep(StepMode::kForwardBackward, model, nullptr, batch, query.precision,
            phases);
  };
  recorder.Record(run);  // makes the rotary tables
  return KeptByLayer(recorder.Record(run), layer);
}

TEST(SavedTensorsTest, AreThoseThatALayerKeeps) {
  for (const MemoryQuery& query : SavedQueries()) {
    const int64_t layer = 1;
    std::vector<RecordedBlock> kept = Recorded(query, layer);
    for (const SavedTensor& tensor : SavedTensorsOfBlock(query)) {
      const auto found = std::find_if(
          kept.begin(), kept.end(), [&](const RecordedBlock& block) {
            return block.place.component == tensor.component &&
                   block.tensor_bytes == tensor.bytes() &&
                   block.dtype == tensor.dtype;
          });
      ASSERT_NE(found, kept.end())
          << NameOf(query) << ": no " << tensor.name << ", " << tensor.formula
          << " of " << tensor.dtype << " in "
          << ComponentName(tensor.component);
      kept.erase(found);
    }
    // Numbers, such as the fill of a mask.
    int64_t left = 0;
    for (const RecordedBlock& block : kept) left += block.tensor_bytes;
    EXPECT_LE(left, 64) << NameOf(query) << ": " << kept.front().op << " "
                        << kept.front().shape;
  }
}

TEST(SavedTensorsTest, SizesOfTheLargestModel) {
  // 2.7B in fp32 at 4 x 512: a score matrix has 128 MiB, a tensor of the
  // residual stream 20, a hidden one 80; a block keeps 857 in all.
  const MemoryQuery query = {*FindModel("2.7B", StandardModels()), 4, 512};
  int64_t all = 0;
  std::map<std::string, int64_t> mib;
  for (const SavedTensor& tensor : SavedTensorsOfBlock(query)) {
    all += tensor.bytes();
    mib[tensor.name] = tensor.bytes() >> 20;
  }
  EXPECT_EQ(mib["exp(scores)"], 128);
  EXPECT_EQ(mib["residual stream after attention"], 20);
  EXPECT_EQ(mib["gate"], 80);
  EXPECT_EQ(all >> 20, 857);  // with rows, indices and the mask
}

}  // namespace
}  // namespace trainbench
