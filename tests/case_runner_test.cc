// SPDX-License-Identifier: MIT

#include "fixtures/case_runner.h"

#include <c10/util/ThreadLocalDebugInfo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/fake_workload.h"

namespace trainbench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

using Kind = CaseOutcome::Kind;

constexpr int64_t kMiB = int64_t{1} << 20;

at::Tensor Allocate(int64_t mebibytes) {
  return at::empty({mebibytes * kMiB}, at::kByte);
}

class CaseRunnerTest : public testing::Test {
 protected:
  CaseRunnerTest() {
    options_.warmup_calls = 1;
    options_.sampling_seconds = 0;  // five samples
  }
  // Whatever happened, the runner is good for the next case and nothing of this
  // one is left.
  ~CaseRunnerTest() override {
    EXPECT_EQ(FakeWorkload::alive(), 0);
    EXPECT_EQ(
        c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE),
        nullptr);
    EXPECT_EQ(runner_.Run(MakeFakeCase("next")).kind, Kind::kGood);
  }

  CaseOutcome Run(const Script& script, const Cost& cost = {}) {
    return runner_.Run(MakeFakeCase("e", script, cost));
  }

  Device device_ = *OpenDevice("cpu");
  RunOptions options_;
  std::vector<std::string> stages_;
  CaseRunner runner_{device_, options_, [this](absl::string_view stage) {
                       stages_.emplace_back(stage);
                     }};
};

TEST_F(CaseRunnerTest, AGoodCaseHasItsMedianAndItsCounters) {
  options_.peak_tflops = 1e-3;
  Script script;
  script.run = [](PhaseObserver& phases) {
    phases.Enter(Phase::kForward);
    SpinUs(100);
    phases.Enter(Phase::kBackward);
    SpinUs(200);
  };
  Case one = MakeFakeCase("e", script, {.flops = 3e4, .params = 7});
  one.name.Value("batch", 4);
  const CaseOutcome outcome = runner_.Run(one);
  ASSERT_EQ(outcome.kind, Kind::kGood) << outcome.reason;
  EXPECT_EQ(outcome.reason, "");
  EXPECT_EQ(outcome.sampling.samples.size(), 5U);
  EXPECT_EQ(outcome.sampling.warmup_us.size(), 1U);
  EXPECT_GE(outcome.median_us, 300);
  EXPECT_EQ(outcome.median_us, outcome.counters.at("p50_us"));
  EXPECT_GE(outcome.counters.at("forward_us"), 100);
  EXPECT_GE(outcome.counters.at("backward_us"), 200);
  EXPECT_THAT(outcome.counters,
              AllOf(Contains(Pair("params", 7)), Contains(Pair("batch", 4)),
                    Contains(Pair("launch_bound", 0)),
                    Contains(Pair("warmup_calls", 1))));
  EXPECT_DOUBLE_EQ(outcome.counters.at("mfu"),
                   3e4 / (outcome.median_us * 1e-6) / 1e9);
}

TEST_F(CaseRunnerTest, ThePeakHoldsWhatWasBuiltAndWhatACallAllocates) {
  const auto kept = std::make_shared<at::Tensor>();
  Script script;
  script.build = [kept] { *kept = Allocate(2); };
  script.check = [] { return Allocate(9), absl::OkStatus(); };
  script.run = [](PhaseObserver&) { Allocate(3); };
  const CaseOutcome outcome = Run(script, {.parameter_bytes = 2 * kMiB});
  ASSERT_EQ(outcome.kind, Kind::kGood) << outcome.reason;
  EXPECT_EQ(outcome.counters.at("peak_bytes"), 5 * kMiB);
}

TEST_F(CaseRunnerTest, StagesAreAnnouncedInOrder) {
  std::vector<std::size_t> announced;  // when each part of the work began
  Script script;
  script.build = [&] { announced.push_back(stages_.size()); };
  script.check = [&] {
    announced.push_back(stages_.size());
    return absl::OkStatus();
  };
  script.run = [&](PhaseObserver&) { announced.push_back(stages_.size()); };
  EXPECT_EQ(Run(script).kind, Kind::kGood);
  EXPECT_THAT(stages_,
              ElementsAre("build", "check", "sampling", "memory", "findings"));
  // First call, warm-up and five samples, then the memory pass.
  EXPECT_THAT(announced, ElementsAre(1, 2, 3, 3, 3, 3, 3, 3, 3, 4));
}

TEST_F(CaseRunnerTest, AnUnavailableCaseIsSkippedAndNotBuilt) {
  const int built = FakeWorkload::built();
  Case one = MakeFakeCase("e", {}, {.predicted_peak_bytes = 123});
  one.unavailable = "needs 2 GPUs, there is 1";
  const CaseOutcome outcome = runner_.Run(one);
  EXPECT_EQ(outcome.kind, Kind::kSkipped);
  EXPECT_EQ(outcome.reason, "needs 2 GPUs, there is 1");
  EXPECT_EQ(outcome.predicted_peak_bytes, 123);
  EXPECT_THAT(outcome.counters, IsEmpty());
  EXPECT_THAT(stages_, IsEmpty());
  EXPECT_EQ(FakeWorkload::built(), built);
}

TEST_F(CaseRunnerTest, ACaseThatDoesNotFitIsSkippedWithBothNumbers) {
  const int built = FakeWorkload::built();
  const CaseOutcome outcome =
      Run({}, {.predicted_peak_bytes = int64_t{1} << 50});
  EXPECT_EQ(outcome.kind, Kind::kSkipped);
  EXPECT_THAT(outcome.reason,
              testing::MatchesRegex(
                  "needs 1048576.00 GiB \\(predicted peak\\), [0-9]+.[0-9]+ "
                  "GiB of [0-9]+.[0-9]+ GiB are free"));
  EXPECT_EQ(outcome.predicted_peak_bytes, int64_t{1} << 50);
  EXPECT_EQ(FakeWorkload::built(), built);
}

TEST_F(CaseRunnerTest, WithoutAPredictionThereIsNone) {
  Case one = MakeFakeCase("e");
  one.unavailable = "not here";
  EXPECT_FALSE(runner_.Run(one).predicted_peak_bytes.has_value());
}

TEST_F(CaseRunnerTest, AWrongResultIsNeverTimed) {
  Script script;
  script.check = [] {
    return absl::FailedPreconditionError("logits differ by 0.3");
  };
  script.run = [](PhaseObserver&) { FAIL() << "was run"; };
  const CaseOutcome outcome = Run(script, {.predicted_peak_bytes = 5});
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_EQ(outcome.reason, "wrong result: logits differ by 0.3");
  EXPECT_EQ(outcome.predicted_peak_bytes, 5);
  EXPECT_THAT(outcome.counters, IsEmpty());
  EXPECT_THAT(stages_, ElementsAre("build", "check"));
}

struct Failure {
  std::function<void()> raise;
  std::string reason;  // part of it
};

std::vector<Failure> Failures() {
  return {
      {[] { TORCH_CHECK(false, "no kernel"); }, "no kernel"},
      {[] { TORCH_CHECK_WITH(OutOfMemoryError, false, "tried 9 GiB"); },
       "out of memory: tried 9 GiB"},
      {[] { throw std::bad_alloc(); }, "out of memory on the host"},
      {[] { throw std::domain_error("bad domain"); }, "bad domain"},
      {[] { throw 7; }, "an exception that is no std::exception"},
  };
}

TEST_F(CaseRunnerTest, WhateverIsThrownBecomesTheReason) {
  for (const Failure& failure : Failures()) {
    const auto kept = std::make_shared<at::Tensor>();
    Script build, check, run;
    build.build = failure.raise;
    check.check = [&failure] { return failure.raise(), absl::OkStatus(); };
    run.run = [&failure](PhaseObserver&) { failure.raise(); };
    for (const Script& script : {build, check, run}) {
      const CaseOutcome outcome = Run(script);
      EXPECT_EQ(outcome.kind, Kind::kError);
      EXPECT_THAT(outcome.reason, HasSubstr(failure.reason));
      EXPECT_THAT(outcome.reason, testing::Not(HasSubstr("frame #")));
      EXPECT_EQ(FakeWorkload::alive(), 0) << failure.reason;
      EXPECT_EQ(Run({}).kind, Kind::kGood) << "after " << failure.reason;
    }
  }
}

TEST_F(CaseRunnerTest, AFailureInTheMemoryPassIsAnErrorToo) {
  int calls = 0;
  Script script;
  script.run = [&](PhaseObserver&) {
    if (++calls == 8) throw std::runtime_error("the eighth call");
  };
  const CaseOutcome outcome = Run(script);
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_EQ(outcome.reason, "the eighth call");
  EXPECT_THAT(stages_, Contains("memory"));
}

// A device that is gone also fails when its memory is to be released.
TEST_F(CaseRunnerTest, ADeadDeviceIsAnErrorAndNotTheEnd) {
  const Device good = device_;
  device_.torch_device = c10::Device(c10::kCUDA, 99);
  const CaseOutcome outcome = Run({});
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_NE(outcome.reason, "");
  device_ = good;
}

TEST_F(CaseRunnerTest, ALeakIsAnError) {
  const auto kept = std::make_shared<std::vector<at::Tensor>>();
  Script script;
  script.run = [kept](PhaseObserver&) { kept->push_back(Allocate(1)); };
  const CaseOutcome outcome = Run(script);
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_EQ(outcome.reason,
            "implausible: a call changed the live memory by 1048576 bytes");
  EXPECT_THAT(outcome.counters, IsEmpty());
}

// What a workload keeps may be made anew while nobody looks, e.g. rotary tables
// for a longer sequence. Its old address is then free for others.
TEST_F(CaseRunnerTest, MemoryReleasedUnseenIsNoLeak) {
  const auto kept = std::make_shared<at::Tensor>();
  int calls = 0;
  Script script;
  script.check = [&] { return *kept = Allocate(1), absl::OkStatus(); };
  script.run = [&](PhaseObserver&) {
    if (++calls == 2) *kept = Allocate(2);
    std::vector<at::Tensor> others;
    for (int i = 0; i < 8; ++i) others.push_back(Allocate(1));
  };
  const CaseOutcome outcome = Run(script);
  EXPECT_EQ(outcome.kind, Kind::kGood) << outcome.reason;
}

TEST_F(CaseRunnerTest, TimeOutsideOfThePhasesIsAnError) {
  Script script;
  script.run = [](PhaseObserver& phases) {
    SpinUs(500);
    phases.Enter(Phase::kForward);
    SpinUs(10);
  };
  const CaseOutcome outcome = Run(script);
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_THAT(outcome.reason, HasSubstr("implausible: the phases miss "));
}

TEST_F(CaseRunnerTest, ImpossibleFlopsAreAnError) {
  device_.flops_bound = 1e12;
  const CaseOutcome outcome = Run({}, {.flops = 1e18});
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_THAT(outcome.reason, HasSubstr("implausible: 1e+18 FLOP in "));
}

TEST_F(CaseRunnerTest, LessMemoryThanTheParametersIsAnError) {
  const CaseOutcome outcome = Run({}, {.parameter_bytes = 4});
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_THAT(outcome.reason, HasSubstr("below the 4 bytes"));
}

TEST_F(CaseRunnerTest, TheSeedDecidesAboutTheWeights) {
  at::Tensor weights;
  Script script;
  script.build = [&] { weights = at::rand({8}); };
  const auto build = [&](int64_t seed) {
    options_.seed = seed;
    EXPECT_EQ(Run(script).kind, Kind::kGood);
    return weights;
  };
  const at::Tensor first = build(42);
  EXPECT_TRUE(build(42).equal(first)) << "depends on what ran before";
  EXPECT_FALSE(build(43).equal(first));
}

TEST_F(CaseRunnerTest, OptionsDecideHowOftenACaseIsCalled) {
  options_.warmup_calls = 3;
  int calls = 0;
  Script script;
  script.run = [&](PhaseObserver&) { ++calls; };
  const CaseOutcome outcome = Run(script);
  EXPECT_EQ(outcome.sampling.warmup_us.size(), 3U);
  EXPECT_EQ(calls, 1 + 3 + 5 + 1);
}

TEST_F(CaseRunnerTest, FindingsAreCountersAndWords) {
  Script script;
  script.find = [](const Sampling& sampling) -> absl::StatusOr<Findings> {
    EXPECT_EQ(sampling.samples.size(), 5U);
    return Findings{{{"sum", 10.5}, {"ratio", std::nan("")}},
                    {{"logits", "bf16"}, {"loss", "fp32"}}};
  };
  const CaseOutcome outcome = Run(script);
  ASSERT_EQ(outcome.kind, Kind::kGood) << outcome.reason;
  EXPECT_EQ(outcome.counters.at("sum"), 10.5);
  EXPECT_FALSE(outcome.counters.contains("ratio"));
  EXPECT_EQ(outcome.findings, "logits=bf16, loss=fp32");
  EXPECT_EQ(stages_.back(), "findings");
}

TEST_F(CaseRunnerTest, AFindingThatContradictsTheRowIsAnError) {
  Script script;
  script.find = [](const Sampling&) -> absl::StatusOr<Findings> {
    return absl::FailedPreconditionError("the kernel is tf32");
  };
  const CaseOutcome outcome = Run(script);
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_EQ(outcome.reason, "the kernel is tf32");
  EXPECT_THAT(outcome.counters, IsEmpty());
}

TEST_F(CaseRunnerTest, AColdCaseIsCheckedAfterTheTiming) {
  Case one = MakeFakeCase("e");
  one.protocol.cold = true;
  one.protocol.count = SamplingPlan::Count{1, 2};
  int calls = 0;
  Script script;
  script.run = [&](PhaseObserver&) { ++calls; };
  script.check = [&] {
    EXPECT_EQ(calls, 3);
    return absl::DataLossError("wrong");
  };
  one.build = [&] { return std::make_unique<FakeWorkload>(script); };
  const CaseOutcome outcome = runner_.Run(one);
  EXPECT_THAT(stages_, ElementsAre("build", "sampling", "check"));
  EXPECT_EQ(outcome.reason, "wrong result: wrong");
}

TEST_F(CaseRunnerTest, ATimedPhaseIsTheRowsTimeAndIsGuardedAsSuch) {
  device_.flops_bound = 1e9;
  Script script;
  script.run = [](PhaseObserver& phases) {
    phases.Enter(Phase::kForward);
    SpinUs(1000);
    phases.Enter(Phase::kBackward);
    SpinUs(200);
  };
  // 9e5 FLOP are possible in the whole call, but not in the phase.
  Case one = MakeFakeCase("e", script, {.flops = 9e5});
  EXPECT_EQ(runner_.Run(one).kind, Kind::kGood);
  one.protocol.timed_phase = Phase::kBackward;
  EXPECT_THAT(runner_.Run(one).reason, HasSubstr("implausible: 9e+05 FLOP"));
  one.cost.flops = 1e4;
  const CaseOutcome outcome = runner_.Run(one);
  ASSERT_EQ(outcome.kind, Kind::kGood) << outcome.reason;
  EXPECT_EQ(outcome.median_us, outcome.counters.at("backward_us"));
}

TEST_F(CaseRunnerTest, ARowIsComparedWithItsBaseline) {
  Script script;
  script.run = [](PhaseObserver&) { SpinUs(50); };
  EXPECT_EQ(runner_.Run(MakeFakeCase("base", script)).kind, Kind::kGood);
  Case one = MakeFakeCase("e", script);
  one.baseline = "base";
  const CaseOutcome outcome = runner_.Run(one);
  EXPECT_TRUE(outcome.counters.contains("time_ratio"));
}

TEST_F(CaseRunnerTest, TheReasonNamesTheLargestTerm) {
  EXPECT_THAT(Run({}, {.predicted_peak_bytes = int64_t{1} << 50,
                       .largest_term = "scores, 8 B T^2 bytes"})
                  .reason,
              testing::EndsWith("are free; largest term: scores, 8 B T^2 "
                                "bytes"));
}

Case SharedCase(std::function<absl::StatusOr<Observation>()> observe) {
  Case one{.name = CaseName("e"),
           .cost = {.flops = 9, .precision = Precision::kFp32, .bytes = 9}};
  one.observe = std::move(observe);
  return one;
}

TEST_F(CaseRunnerTest, ARowOfASharedPassHasItsOwnShareOfTheCost) {
  const CaseOutcome outcome = runner_.Run(SharedCase([] {
    Observation seen;
    seen.sampling.samples = {{.total_us = 20}};
    seen.findings.counters = {{"flops", 400}, {"share", 0.25}};
    return seen;
  }));
  ASSERT_EQ(outcome.kind, Kind::kGood) << outcome.reason;
  EXPECT_EQ(outcome.median_us, 20);
  EXPECT_THAT(outcome.counters,
              AllOf(Contains(Pair("flops", 400)),
                    Contains(Pair("flops_per_second", 2e7)),
                    Contains(Pair("share", 0.25)),
                    testing::Not(Contains(testing::Key("bytes"))),
                    testing::Not(Contains(testing::Key("peak_bytes")))));
  EXPECT_THAT(stages_, ElementsAre("shared pass"));
}

TEST_F(CaseRunnerTest, AFailedPassIsAnErrorAndSoIsAnImpossibleShare) {
  EXPECT_EQ(runner_
                .Run(SharedCase([]() -> absl::StatusOr<Observation> {
                  return absl::DataLossError("no trace");
                }))
                .reason,
            "no trace");
  device_.flops_bound = 1e6;
  EXPECT_THAT(runner_
                  .Run(SharedCase([] {
                    Observation seen;
                    seen.sampling.samples = {{.total_us = 20}};
                    seen.findings.counters = {{"flops", 400}};
                    return seen;
                  }))
                  .reason,
              HasSubstr("implausible"));
}

}  // namespace
}  // namespace trainbench
