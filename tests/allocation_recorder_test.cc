// SPDX-License-Identifier: MIT

#include "fixtures/allocation_recorder.h"

#include <ATen/Parallel.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "fixtures/device.h"
#include "fixtures/memory_probe.h"
#include "model/accounting/memory.h"
#include "model/adamw.h"
#include "model/train_step.h"

namespace trainbench {
namespace {

using ::testing::_;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kKiB = 1024;
const c10::Device kCpu(c10::kCPU);

at::Tensor Allocate(int64_t kibibytes) {
  return at::empty({kibibytes * kKiB}, at::kByte);
}

bool Installed() {
  return c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE) !=
             nullptr ||
         at::hasThreadLocalCallbacks();
}

TEST(AllocationRecorderTest, WritesDownExactlyWhatHappens) {
  AllocationRecorder recorder(kCpu);
  at::Tensor before;
  recorder.Observe([&] { before = Allocate(7); });
  const AllocationTimeline timeline =
      recorder.Record([&](PhaseObserver& phases) {
        const at::Tensor a = Allocate(2);
        phases.Enter(Phase::kForward);
        at::Tensor b = at::zeros({3 * kKiB}, at::kByte);
        phases.Enter(Phase::kOptimizer);
        b.reset();
        before.reset();
      });
  const std::optional<Phase> none, forward = Phase::kForward,
                                   optimizer = Phase::kOptimizer;
  EXPECT_THAT(
      timeline.events,
      ElementsAre(FieldsAre(_, 2 * kKiB, 9 * kKiB, "aten::empty", none),
                  FieldsAre(_, 3 * kKiB, 12 * kKiB, "aten::zeros", forward),
                  FieldsAre(_, -3 * kKiB, 9 * kKiB, "aten::zeros", optimizer),
                  FieldsAre(_, -7 * kKiB, 2 * kKiB, "", optimizer),
                  FieldsAre(_, -2 * kKiB, 0, "aten::empty", optimizer)));
  EXPECT_TRUE(std::is_sorted(
      timeline.events.begin(), timeline.events.end(),
      [](const auto& a, const auto& b) { return a.time_us < b.time_us; }));
  EXPECT_GE(timeline.events.front().time_us, 0);
  EXPECT_EQ(timeline.live_before, 7 * kKiB);
  EXPECT_EQ(timeline.live_after, 0);
  EXPECT_EQ(timeline.peak_bytes, 12 * kKiB);
  EXPECT_THAT(timeline.largest,
              FieldsAre(_, 3 * kKiB, 12 * kKiB, "aten::zeros", forward));
}

TEST(AllocationRecorderTest, ACallWithoutAllocationsHasNone) {
  AllocationRecorder recorder(kCpu);
  at::Tensor kept;
  recorder.Observe([&] { kept = Allocate(4); });
  const AllocationTimeline timeline = recorder.Record([](PhaseObserver&) {});
  EXPECT_THAT(timeline.events, IsEmpty());
  EXPECT_EQ(timeline.largest.bytes, 0);
  EXPECT_EQ(timeline.peak_bytes, 4 * kKiB);
  EXPECT_EQ(timeline.live_after, 4 * kKiB);
}

TEST(AllocationRecorderTest, NothingIsRecordedAfterTheEnd) {
  AllocationRecorder recorder(kCpu);
  at::Tensor kept;
  const auto allocate = [&](PhaseObserver&) { kept = Allocate(1); };
  EXPECT_EQ(recorder.Record(allocate).events.size(), 1);
  EXPECT_FALSE(Installed());
  const at::Tensor unseen = Allocate(2);
  EXPECT_EQ(recorder.LiveBytes(), kKiB);
  at::Tensor seen;
  recorder.Observe([&] { seen = Allocate(4); });
  EXPECT_EQ(recorder.LiveBytes(), 5 * kKiB);
  // A second recording begins with what is live, and with no phase.
  const AllocationTimeline again = recorder.Record(allocate);
  EXPECT_EQ(again.events.size(), 2) << "the new block, then the old one's end";
  EXPECT_EQ(again.live_before, 5 * kKiB);
  EXPECT_EQ(again.peak_bytes, 6 * kKiB);
  EXPECT_EQ(again.events[0].phase, std::nullopt);
}

TEST(AllocationRecorderTest, AnExceptionEndsTheRecording) {
  AllocationRecorder recorder(kCpu);
  EXPECT_THROW(recorder.Record([](PhaseObserver& phases) {
    phases.Enter(Phase::kBackward);
    const at::Tensor gone = Allocate(3);
    throw std::domain_error("out of memory");
  }),
               std::domain_error);
  EXPECT_FALSE(Installed());
  EXPECT_EQ(recorder.LiveBytes(), 0);
  // LibTorch's own, from inside an operator.
  EXPECT_THROW(recorder.Record([](PhaseObserver&) { at::ones({2}).view({3}); }),
               c10::Error);
  EXPECT_FALSE(Installed());
  const AllocationTimeline next =
      recorder.Record([](PhaseObserver&) { Allocate(1); });
  EXPECT_EQ(next.events.size(), 2);
  EXPECT_EQ(next.events[0].phase, std::nullopt);
  EXPECT_EQ(next.events[0].op, "aten::empty");
}

TEST(AllocationRecorderTest, AProbeAroundItSeesTheSame) {
  const auto probe = MakeMemoryProbe(kCpu);
  AllocationRecorder recorder(kCpu);
  at::Tensor kept;
  AllocationTimeline timeline;
  const MemoryPeak peak = probe->MeasurePeak([&] {
    timeline = recorder.Record([&](PhaseObserver&) {
      const at::Tensor gone = Allocate(3);
      kept = Allocate(2);
    });
  });
  EXPECT_EQ(timeline.peak_bytes, 5 * kKiB);
  EXPECT_EQ(peak.allocated, 5 * kKiB);
  EXPECT_EQ(probe->LiveBytes(), 2 * kKiB);
  probe->Observe([&] { kept.reset(); });
  EXPECT_EQ(probe->LiveBytes(), 0);
}

// A model with what a step needs, in the accounts of a recorder and a probe.
class Workload {
 public:
  explicit Workload(const MemoryQuery& query) : query_(query) {
    at::set_num_threads(1);
    at::manual_seed(1);
    probe_->Observe([&] {
      recorder_.Observe([&] {
        model_ = TransformerLm(query.config, at::TensorOptions());
        if (query.mode == StepMode::kTrainStep) {
          optimizer_.emplace(Parameters(model_), AdamWKind::kFused);
        }
        batch_ = RandomBatch(query.config.vocab, query.batch, query.seq, kCpu);
        NullObserver nobody;
        RunStep(StepMode::kInference, model_, nullptr, batch_, query_.precision,
                nobody);  // makes the rotary tables
      });
    });
  }

  AllocationTimeline Record() {
    return recorder_.Record([&](PhaseObserver& phases) { Run(phases); });
  }
  int64_t ProbedPeak() {
    NullObserver nobody;
    return probe_->MeasurePeak([&] { Run(nobody); }).allocated;
  }

 private:
  void Run(PhaseObserver& phases) {
    RunStep(query_.mode, model_, optimizer_ ? &*optimizer_ : nullptr, batch_,
            query_.precision, phases);
  }

  MemoryQuery query_;
  std::unique_ptr<MemoryProbe> probe_ = MakeMemoryProbe(kCpu);
  AllocationRecorder recorder_{kCpu};
  TransformerLm model_{nullptr};
  std::optional<AdamW> optimizer_;
  Batch batch_;
};

MemoryQuery Query(int64_t seq, StepMode mode = StepMode::kTrainStep) {
  return {{"m", 32, 96, 2, 4, 512}, 2, seq, Precision::kFp32, mode};
}

TEST(RecordedStepTest, PeakIsTheProbesToTheByte) {
  for (const StepMode mode : kStepModes) {
    Workload workload(Query(48, mode));
    const AllocationTimeline timeline = workload.Record();
    EXPECT_EQ(timeline.peak_bytes, workload.ProbedPeak()) << StepModeName(mode);
    EXPECT_EQ(timeline.live_after, timeline.live_before) << StepModeName(mode);
  }
}

TEST(RecordedStepTest, EventsAddUp) {
  const AllocationTimeline timeline = Workload(Query(48)).Record();
  int64_t live = timeline.live_before, peak = live;
  for (const AllocationEvent& event : timeline.events) {
    live += event.bytes;
    peak = std::max(peak, live);
    ASSERT_EQ(event.live_bytes, live);
  }
  EXPECT_EQ(live, timeline.live_after);
  EXPECT_EQ(peak, timeline.peak_bytes);
}

TEST(RecordedStepTest, PhasesAndOperatorsAreThoseOfTheStep) {
  const AllocationTimeline timeline = Workload(Query(48)).Record();
  std::vector<Phase> order;
  int64_t gradients = 0;
  for (const AllocationEvent& event : timeline.events) {
    ASSERT_TRUE(event.phase.has_value());
    if (order.empty() || order.back() != *event.phase) {
      order.push_back(*event.phase);
    }
    if (event.bytes < 0) continue;
    ASSERT_NE(event.op, "") << event.bytes;
    // Only the backward pass runs nodes, after it made the loss's gradient.
    EXPECT_EQ(absl::StrContains(event.op, "Backward") ||
                  absl::StrContains(event.op, "AccumulateGrad") ||
                  event.op == "aten::ones_like",
              event.phase == Phase::kBackward)
        << event.op;
    EXPECT_THAT(event.op, Not(HasSubstr("aten::empty")));
    if (event.op == "aten::mm (MmBackward0)") gradients += event.bytes;
  }
  EXPECT_THAT(order, ElementsAre(Phase::kForward, Phase::kLoss,
                                 Phase::kBackward, Phase::kOptimizer));
  EXPECT_GT(gradients, 0);
}

TEST(RecordedStepTest, LargestAllocationIsLogitsOrScoresAsTheContextIs) {
  // Scores have 4 B h T^2 bytes, logits 4 B T V: equal at T = V / h = 128.
  const AllocationTimeline at_short =
      Workload(Query(64, StepMode::kForward)).Record();
  EXPECT_EQ(at_short.largest.bytes, 2 * 64 * 512 * 4);
  EXPECT_EQ(at_short.largest.op, "aten::mm");
  const AllocationTimeline at_long =
      Workload(Query(256, StepMode::kForward)).Record();
  EXPECT_EQ(at_long.largest.bytes, 2 * 4 * 256 * 256 * 4);
  EXPECT_THAT(at_long.largest.op, AnyOf("aten::bmm", "aten::div", "aten::where",
                                        "aten::sub", "aten::exp"));
  EXPECT_EQ(at_long.largest.phase, Phase::kForward);
}

// Like the rows of the memory experiment: tiny as it is, and small with fewer
// of its blocks.
TEST(RecordedStepTest, PredictionIsWithinTwoPercent) {
  const ModelConfig tiny = *FindModel("tiny", StandardModels());
  const ModelConfig wide = {"wide", 768, 3072, 2, 12};
  std::vector<MemoryQuery> queries;
  for (const StepMode mode :
       {StepMode::kInference, StepMode::kForward, StepMode::kTrainStep}) {
    for (const int64_t seq : {32, 128, 256}) {
      queries.push_back({tiny, 2, seq, Precision::kFp32, mode});
    }
    queries.push_back({wide, 1, 64, Precision::kFp32, mode});
  }
  queries.push_back({tiny, 2, 128, Precision::kBf16Autocast,
                     StepMode::kTrainStep, !OpenDevice("cpu")->native_bf16});
  for (const MemoryQuery& query : queries) {
    const auto predicted =
        static_cast<double>(EstimateMemory(query).peak.bytes);
    const auto recorded =
        static_cast<double>(Workload(query).Record().peak_bytes);
    EXPECT_NEAR(recorded / predicted, 1, 0.02)
        << query.config.name << " " << query.seq << " "
        << PrecisionName(query.precision) << " " << StepModeName(query.mode);
  }
}

}  // namespace
}  // namespace trainbench
