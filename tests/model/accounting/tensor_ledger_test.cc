// SPDX-License-Identifier: MIT
// The ledger and the traffic of a rank's part of a model, against what a step
// of the part allocates and exchanges.

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/memory/allocation_recorder.h"
#include "fixtures/memory/memory_probe.h"
#include "model/accounting/ledger/step.h"
#include "model/accounting/parallel/tensor_traffic.h"
#include "model/distributed/tensor_parallel/tensor_parallel_lm.h"
#include "model/nn/dtype.h"
#include "model/training/train_step.h"
#include "tests/support/fake_group.h"

namespace trainbench {
namespace {

// Of parts that keep all, that recompute attention, and that recompute each
// block or segments of two.
std::vector<MemoryQuery> Queries(Precision precision) {
  using enum Checkpointing::Kind;
  std::vector<MemoryQuery> queries;
  for (const Implementation implementation : kImplementations) {
    for (const int64_t ranks : {2, 4}) {
      ModelConfig whole = {
          "m", 64, 162, 3, 4, 101, AttentionOf(implementation), implementation};
      for (const Checkpointing& checkpointing :
           {Checkpointing{}, Checkpointing{kAttention},
            Checkpointing{kBlocks, 1}, Checkpointing{kBlocks, 2}}) {
        whole.checkpointing = checkpointing;
        queries.push_back({.config = PartOf(whole, /*rank=*/0, ranks),
                           .batch = 2,
                           .seq = 48,
                           .precision = precision,
                           .mode = StepMode::kForwardBackward,
                           .threads = 1,
                           .tensor_ranks = ranks});
      }
    }
  }
  return queries;
}

ModelConfig WholeOf(const MemoryQuery& query) {
  ModelConfig whole = query.config;
  whole.head_width = 0;
  whole.heads = 4;
  whole.d_ff = 162;
  whole.vocab = 101;
  return whole;
}

std::string DescribePart(const MemoryQuery& q) {
  return std::string(ImplementationName(q.config.implementation)) + " " +
         std::string(PrecisionName(q.precision)) + " of " +
         std::to_string(q.tensor_ranks) + ", checkpoint " +
         CheckpointingName(q.config.checkpointing);
}

// Rank 0's part, whose sums are its own summands: that takes the same memory.
class Part {
 public:
  explicit Part(const MemoryQuery& query)
      : query_(query),
        group_(/*rank=*/0, static_cast<int>(query.tensor_ranks)),
        ranks_(WholeOf(query), group_),
        model_(MakePart(ranks_, at::dtype(WeightType(query.precision)))),
        batch_(RandomBatch(101, query.batch, query.seq, at::kCPU)) {}

  void Run(PhaseObserver& phases) {
    RunStep(query_.mode, model_, nullptr, batch_, query_.precision, phases);
  }
  void Run() {
    NullObserver nobody;
    Run(nobody);
  }
  TensorGroup& group() { return ranks_.group(); }

 private:
  MemoryQuery query_;
  FakeGroup group_;
  TensorRanks ranks_;
  TransformerLm model_;
  Batch batch_;
};

constexpr int64_t kPartNumbers = 16;  // bytes, at the most

// Bytes of an allocation, and all that are alive then.
using PartAllocation = std::pair<int64_t, int64_t>;

std::vector<PartAllocation> PredictedOfPart(const MemoryQuery& query) {
  ledger::Ledger ledger;
  ledger::RunStep(query, ledger);
  std::vector<PartAllocation> made;
  int64_t live = 0;
  for (const ledger::LedgerEvent& event : ledger.events()) {
    const int64_t bytes = ledger.tensors()[event.tensor].bytes();
    live += event.freed ? -bytes : bytes;
    if (!event.freed) made.emplace_back(bytes, live);
  }
  EXPECT_EQ(live, 0);
  return made;
}

std::vector<PartAllocation> RecordedOfPart(const MemoryQuery& query) {
  at::set_num_threads(1);
  at::manual_seed(1);
  Part part(query);
  AllocationRecorder recorder{c10::Device(c10::kCPU)};
  const auto run = [&](PhaseObserver& phases) { part.Run(phases); };
  recorder.Record(run);  // makes the rotary tables
  const AllocationTimeline timeline = recorder.Record(run);
  std::vector<PartAllocation> made;
  int64_t live = 0;
  for (const AllocationEvent& event : timeline.events) {
    const RecordedBlock& block = timeline.blocks[event.block];
    if (block.by_library || block.bytes <= kPartNumbers) continue;
    live += event.bytes;
    if (event.bytes > 0) made.emplace_back(event.bytes, live);
  }
  return made;
}

TEST(TensorLedgerTest, InFp32EachAllocationOfAPartsStepIsPredicted) {
  for (const MemoryQuery& query : Queries(Precision::kFp32)) {
    const std::vector<PartAllocation> predicted = PredictedOfPart(query);
    const std::vector<PartAllocation> recorded = RecordedOfPart(query);
    const auto [p, r] = std::mismatch(predicted.begin(), predicted.end(),
                                      recorded.begin(), recorded.end());
    if (p == predicted.end() && r == recorded.end()) continue;
    ADD_FAILURE() << DescribePart(query) << ", allocation "
                  << p - predicted.begin() << " of " << predicted.size()
                  << " and " << recorded.size() << ": "
                  << (p == predicted.end() ? 0 : p->first) << " bytes of "
                  << (p == predicted.end() ? 0 : p->second) << " predicted, "
                  << (r == recorded.end() ? 0 : r->first) << " of "
                  << (r == recorded.end() ? 0 : r->second) << " made";
  }
}

TEST(TensorLedgerTest, ThePeakIsWithinTwoPercent) {
  for (const Precision precision :
       {Precision::kFp32, Precision::kBf16Autocast, Precision::kBf16}) {
    for (const MemoryQuery& query : Queries(precision)) {
      SCOPED_TRACE(DescribePart(query));
      at::set_num_threads(1);
      const auto probe = MakeMemoryProbe(at::kCPU);
      std::optional<Part> part;
      probe->Observe([&] {
        part.emplace(query);
        part->Run();
      });
      const MemoryPeak peak = probe->MeasurePeak([&] { part->Run(); });
      const MemoryEstimate estimate = EstimateMemory(query);
      EXPECT_NEAR(static_cast<double>(peak.allocated) /
                      static_cast<double>(estimate.peak.bytes),
                  1, 0.02);
    }
  }
}

TEST(TensorTrafficTest, IsWhatAStepExchangesToTheByte) {
  for (const Precision precision :
       {Precision::kFp32, Precision::kBf16Autocast, Precision::kBf16}) {
    for (const MemoryQuery& query : Queries(precision)) {
      SCOPED_TRACE(DescribePart(query));
      Part part(query);
      part.Run();
      const SyncTraffic sent = part.group().TakeTraffic();
      const TensorTraffic step = TensorTrafficOf(query, /*backward=*/true);
      EXPECT_EQ(sent.calls, step.calls);
      EXPECT_EQ(sent.bytes, step.bytes);
      // The forward pass has no backward pass's calls; the loss is in both.
      const TensorTraffic forward = TensorTrafficOf(query, /*backward=*/false);
      const bool again =
          query.config.checkpointing.kind == Checkpointing::Kind::kBlocks;
      EXPECT_EQ(step.calls - forward.calls, (again ? 2 : 1) * 2 * 3 + 1);
    }
  }
}

TEST(TensorTrafficTest, OneRankExchangesNothing) {
  const TensorTraffic none = TensorTrafficOf({}, /*backward=*/true);
  EXPECT_EQ(none.calls, 0);
  EXPECT_EQ(none.bytes, 0);
}

}  // namespace
}  // namespace trainbench
