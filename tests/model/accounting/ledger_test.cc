// SPDX-License-Identifier: MIT
// The ledger alone, and event by event against what a step allocates.

#include "model/accounting/ledger/ledger.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fixtures/memory/allocation_recorder.h"
#include "model/accounting/ledger/step.h"
#include "model/nn/dtype.h"
#include "model/training/train_step.h"

namespace trainbench {
namespace {

using ledger::Ledger;
using ledger::LedgerEvent;
using ledger::LedgerMoment;
using ledger::Tensor;
using ledger::TensorRecord;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Tensor Make(Ledger& ledger, const char* name, int64_t bytes) {
  return ledger.Make(name, Component::kNorm, {"", bytes},
                     ledger::TensorType::kBool);
}

std::vector<std::string> Names(const std::vector<TensorRecord>& tensors) {
  std::vector<std::string> names;
  for (const TensorRecord& tensor : tensors) {
    names.push_back(tensor.name.Joined());
  }
  return names;
}

TEST(LedgerTest, ATensorLivesAsLongAsItsLastCopy) {
  Ledger ledger;
  Tensor a = Make(ledger, "a", 10);
  Tensor b = a;
  a = Make(ledger, "c", 5);
  EXPECT_EQ(ledger.live(), 15);
  b.Reset();
  EXPECT_EQ(ledger.live(), 5);
  const Tensor moved = std::move(a);
  EXPECT_EQ(ledger.live(), 5);
  EXPECT_EQ(moved.bytes(), 5);
}

TEST(LedgerTest, AnAssignmentFreesTheOldTensorWhenTheNewOneIsThere) {
  Ledger ledger;
  ledger.Enter("moment");
  Tensor a = Make(ledger, "a", 10);
  a = Make(ledger, "b", 10);
  EXPECT_EQ(ledger.moments().front().bytes, 20);
  EXPECT_EQ(ledger.live(), 10);
}

TEST(LedgerTest, AMomentKnowsItsHighestPoint) {
  Ledger ledger;
  ledger.Add(100);
  ledger.Enter({"first", " of two"});
  Tensor a = Make(ledger, "a", 7);
  {
    const Tensor b = Make(ledger, "b", 3);
    const Tensor c = Make(ledger, "c", 2);
  }
  ledger.CountGradient(a);
  ledger.Enter("second");
  const Tensor d = Make(ledger, "d", 1);
  a.Reset();
  ASSERT_EQ(ledger.moments().size(), 2);
  const LedgerMoment &first = ledger.moments()[0],
                     &second = ledger.moments()[1];
  EXPECT_EQ(first.name.Joined(), "first of two");
  EXPECT_EQ(first.bytes, 112);
  EXPECT_EQ(first.gradient_bytes, 0);
  EXPECT_THAT(Names(ledger.AliveAfter(first.event)),
              ElementsAre("a", "b", "c"));
  EXPECT_EQ(second.bytes, 108);
  EXPECT_EQ(second.gradient_bytes, 7);
  EXPECT_THAT(Names(ledger.AliveAfter(second.event)), ElementsAre("a", "d"));
  EXPECT_THAT(Names(ledger.AliveAfter(ledger.events().size())),
              ElementsAre("d"));
}

// What makes a tensor, its bytes, and all bytes that are alive then.
using Allocation = std::tuple<Component, int64_t, int64_t>;

constexpr int64_t kNumbers = 16;  // bytes, at the most

std::vector<Allocation> Predicted(const MemoryQuery& query) {
  Ledger ledger;
  ledger::RunStep(query, ledger);
  std::vector<Allocation> made;
  int64_t live = 0;
  for (const LedgerEvent& event : ledger.events()) {
    const TensorRecord& tensor = ledger.tensors()[event.tensor];
    live += event.freed ? -tensor.bytes() : tensor.bytes();
    if (!event.freed) made.emplace_back(tensor.component, tensor.bytes(), live);
  }
  EXPECT_EQ(live, 0);
  return made;
}

std::vector<Allocation> Recorded(const MemoryQuery& query) {
  at::set_num_threads(1);
  at::manual_seed(1);
  TransformerLm model(query.config,
                      at::TensorOptions().dtype(WeightType(query.precision)));
  const Batch batch =
      RandomBatch(query.config.vocab, query.batch, query.seq, at::kCPU);
  AllocationRecorder recorder{c10::Device(c10::kCPU)};
  const auto run = [&](PhaseObserver& phases) {
    RunStep(query.mode, model, nullptr, batch, query.precision, phases);
  };
  recorder.Record(run);  // makes the rotary tables
  const AllocationTimeline timeline = recorder.Record(run);
  std::vector<Allocation> made;
  int64_t live = 0;
  for (const AllocationEvent& event : timeline.events) {
    const RecordedBlock& block = timeline.blocks[event.block];
    if (block.by_library || block.bytes <= kNumbers) continue;
    live += event.bytes;
    if (event.bytes < 0) continue;
    made.emplace_back(block.place.component.value_or(Component::kOptimizer),
                      event.bytes, live);
  }
  return made;
}

std::string Text(const std::vector<Allocation>& made, std::size_t index) {
  if (index == made.size()) return "nothing";
  const auto& [component, bytes, live] = made[index];
  return std::to_string(bytes) + " bytes of " +
         std::string(ComponentName(component)) + ", " + std::to_string(live) +
         " alive";
}

std::string Describe(const MemoryQuery& q) {
  return std::string(AttentionName(q.config.attention)) + " " +
         std::string(ImplementationName(q.config.implementation)) + " " +
         CheckpointingName(q.config.checkpointing) + " " +
         std::to_string(q.config.d_ff) + " " + std::to_string(q.batch) + "x" +
         std::to_string(q.seq) + " " + std::string(PrecisionName(q.precision)) +
         " " + std::string(StepModeName(q.mode));
}

// Of three blocks: each alone, two and a rest of one.
const std::vector<Checkpointing> kCheckpointing = {
    {Checkpointing::Kind::kAttention},
    {Checkpointing::Kind::kBlocks, 1},
    {Checkpointing::Kind::kBlocks, 2}};

std::vector<MemoryQuery> Queries(Precision precision, int64_t batch) {
  std::vector<MemoryQuery> queries;
  for (const AttentionKind kind : AttentionKinds()) {
    if (!AttentionUnavailable(kind, DeviceKind::kCpu, true, 16).empty()) {
      continue;
    }
    for (const Implementation implementation : kImplementations) {
      for (const auto& [d_ff, heads] : {std::pair(160, 4), std::pair(24, 1)}) {
        const MemoryQuery query = {
            .config = {"m", 64, d_ff, 3, heads, 101, kind, implementation},
            .batch = batch,
            .seq = 48,
            .precision = precision,
            .mode = StepMode::kForwardBackward,
            .threads = 1};
        queries.push_back(query);
        queries.push_back(query);
        queries.back().mode = StepMode::kInference;
        for (const Checkpointing& checkpointing : kCheckpointing) {
          if (heads == 1) continue;
          queries.push_back(query);
          queries.back().config.checkpointing = checkpointing;
        }
      }
    }
  }
  return queries;
}

TEST(StepLedgerTest, InFp32EachAllocationOfAStepIsPredicted) {
  for (const int64_t batch : {1, 2}) {
    for (const MemoryQuery& query : Queries(Precision::kFp32, batch)) {
      const std::vector<Allocation> predicted = Predicted(query);
      const std::vector<Allocation> recorded = Recorded(query);
      const auto [p, r] = std::mismatch(predicted.begin(), predicted.end(),
                                        recorded.begin(), recorded.end());
      const auto index = static_cast<std::size_t>(p - predicted.begin());
      EXPECT_EQ(Text(predicted, index), Text(recorded, index))
          << Describe(query) << ", allocation " << index;
    }
  }
}

// What CPUs allocate beside them to multiply bf16 differs.
TEST(StepLedgerTest, InBf16AllPredictedTensorsAreMade) {
  const auto sorted = [](const std::vector<Allocation>& made) {
    std::vector<std::pair<Component, int64_t>> tensors;
    for (const auto& [component, bytes, live] : made) {
      tensors.emplace_back(component, bytes);
    }
    std::sort(tensors.begin(), tensors.end());
    return tensors;
  };
  for (const Precision precision :
       {Precision::kBf16Autocast, Precision::kBf16}) {
    for (const MemoryQuery& query : Queries(precision, 2)) {
      const auto predicted = sorted(Predicted(query));
      const auto recorded = sorted(Recorded(query));
      std::vector<std::pair<Component, int64_t>> missing;
      std::set_difference(predicted.begin(), predicted.end(), recorded.begin(),
                          recorded.end(), std::back_inserter(missing));
      EXPECT_THAT(missing, IsEmpty()) << Describe(query);
    }
  }
}

}  // namespace
}  // namespace trainbench
