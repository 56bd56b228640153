// SPDX-License-Identifier: MIT

#include "fixtures/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace trainbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr double kSecond = 1e6;  // in microseconds

// A program whose n-th call, counted from 0, takes series(n) microseconds on
// a wall clock that nothing else moves.
class Program {
 public:
  explicit Program(std::function<double(int)> series)
      : series_(std::move(series)) {}

  Sampling Collect(const SamplingPlan& plan) {
    return CollectSamples(
        plan,
        [this] {
          Sample sample;
          sample.total_us = series_(calls++);
          wall_us_ += sample.total_us;
          return sample;
        },
        [this] { return wall_us_ / kSecond; });
  }

  double wall_seconds() const { return wall_us_ / kSecond; }
  int calls = 0;

 private:
  std::function<double(int)> series_;
  double wall_us_ = 5 * kSecond;  // the wall clock's origin is arbitrary
};

std::function<double(int)> Constant(double us) {
  return [us](int) { return us; };
}

// Alternates by +-20 %: its median is never known to 1 % from few samples.
double Noisy(int call) { return call % 2 == 0 ? 8000 : 12000; }

SamplingPlan NeverConverging() {
  SamplingPlan plan;
  plan.warmup_calls = 0;
  plan.target_half_width = 0;
  plan.sampling_seconds = 1e9;
  plan.max_case_seconds = 1e9;
  return plan;
}

TEST(SamplerWarmupTest, MakesExactlyTheCallsAskedFor) {
  for (const int warmup : {0, 1, 7}) {
    Program program([](int call) { return 100.0 + call; });
    SamplingPlan plan;
    plan.warmup_calls = warmup;
    plan.sampling_seconds = 0;
    const Sampling sampling = program.Collect(plan);
    EXPECT_EQ(sampling.first_call.total_us, 100);
    ASSERT_THAT(sampling.warmup_us, SizeIs(warmup));
    for (int i = 0; i < warmup; ++i) {
      EXPECT_EQ(sampling.warmup_us[static_cast<std::size_t>(i)], 101 + i);
    }
    ASSERT_THAT(sampling.samples, SizeIs(5));
    EXPECT_EQ(sampling.samples.front().total_us, 101 + warmup);
    EXPECT_EQ(program.calls, 1 + warmup + 5);
  }
}

TEST(SamplerWarmupTest, MakesTheCallsAskedForEvenPastTheWallCap) {
  Program program(Constant(kSecond));
  SamplingPlan plan;
  plan.warmup_calls = 50;
  plan.max_case_seconds = 10;
  EXPECT_THAT(program.Collect(plan).warmup_us, SizeIs(50));
}

TEST(SamplerWarmupTest, OfExpensiveSteadyCallsIsTwoCalls) {
  Program program(
      [](int call) { return call == 0 ? 9 * kSecond : 2 * kSecond; });
  EXPECT_THAT(program.Collect(SamplingPlan()).warmup_us, SizeIs(2));
}

TEST(SamplerWarmupTest, GoesOnWhileTheNewestCallIsClearlyFaster) {
  Program program([](int call) { return call <= 1 ? 3e5 : 2.5e5; });
  EXPECT_THAT(program.Collect(SamplingPlan()).warmup_us, SizeIs(3));
}

TEST(SamplerWarmupTest, IsLookedAtAfterAQuarterMoreEachTime) {
  // Steady from the 9th call on: the counts looked at are ..., 8, 10, 12, ...
  const std::vector<double> us = {9e5, 5e5, 4e5, 3e5, 2.5e5};
  Program program([&us](int call) {
    const auto index = static_cast<std::size_t>(call);
    return index < us.size() ? us[index] : 2e5;
  });
  EXPECT_THAT(program.Collect(SamplingPlan()).warmup_us, SizeIs(10));
}

TEST(SamplerWarmupTest, OfShortCallsLastsATenthOfASecond) {
  Program program(Constant(5));
  EXPECT_THAT(program.Collect(SamplingPlan()).warmup_us, SizeIs(20'000));
}

TEST(SamplerWarmupTest, IsBoundedInCallsWhenTimeDoesNotPass) {
  Program program(Constant(0));
  EXPECT_THAT(program.Collect(SamplingPlan()).warmup_us, SizeIs(kMaxSamples));
}

TEST(SamplerWarmupTest, FollowsAFastDecayUntilItIsFlat) {
  Program program([](int call) { return 1e5 * (1 + 9 * std::pow(0.5, call)); });
  const Sampling sampling = program.Collect(SamplingPlan());
  EXPECT_LT(sampling.warmup_us.back(), 1.03e5);
  EXPECT_LT(sampling.warmup_us.size(), 20);
}

// Each call is less than 1 % faster than the one before, so neighbours look
// steady all the way.
TEST(SamplerWarmupTest, FollowsASlowDecayUntilItIsFlat) {
  Program program(
      [](int call) { return 2000 * (1 + 3 * std::pow(0.99, call)); });
  const Sampling sampling = program.Collect(SamplingPlan());
  EXPECT_LT(sampling.warmup_us.back(), 1.03 * 2000);
  EXPECT_LT(sampling.warmup_us.size(), 1500);
}

TEST(SamplerWarmupTest, IsNotProlongedByInterruptions) {
  Program program([](int call) { return call % 3 == 1 ? 9e5 : 2e5; });
  EXPECT_LE(program.Collect(SamplingPlan()).warmup_us.size(), 4);
}

TEST(SamplerWarmupTest, TakesAtMostAQuarterOfTheCaseAfterItsFirstCall) {
  // Falls forever. The first call and one of warm-up come before the quarter.
  Program program([](int call) { return kSecond * std::pow(0.9, call); });
  SamplingPlan plan;
  plan.max_case_seconds = 8;
  const Sampling sampling = program.Collect(plan);
  double after_first = 0;
  for (const double us : sampling.warmup_us) after_first += us;
  after_first -= sampling.warmup_us.front();
  EXPECT_LE(after_first, 2 * kSecond);
  EXPECT_GT(after_first + sampling.warmup_us.back(), 2 * kSecond);
}

TEST(SamplerWarmupTest, MakesOneCallEvenIfTheFirstCallUsedUpTheCap) {
  Program program([](int call) { return call == 0 ? 40 * kSecond : 1e5; });
  EXPECT_THAT(program.Collect(SamplingPlan()).warmup_us, SizeIs(1));
}

TEST(SamplerTest, StopsOnceTheMedianIsKnown) {
  Program program(Constant(1000));
  const Sampling sampling = program.Collect(SamplingPlan());
  EXPECT_EQ(sampling.stop_reason, StopReason::kConverged);
  EXPECT_THAT(sampling.samples, SizeIs(6)) << "fewer have no interval";
}

TEST(SamplerTest, LooksAtTheMedianAfterAQuarterMoreEachTime) {
  // Seven outliers lie outside the interval from 25 samples on. The counts
  // looked at are ..., 22, 27, ...
  SamplingPlan plan = NeverConverging();
  plan.target_half_width = 0.01;
  Program program(
      [](int call) { return call <= 7 ? 1000.0 + 50 * call : 900; });
  const Sampling sampling = program.Collect(plan);
  EXPECT_EQ(sampling.stop_reason, StopReason::kConverged);
  EXPECT_THAT(sampling.samples, SizeIs(27));
}

TEST(SamplerTest, NeverConvergesToATargetOfZero) {
  SamplingPlan plan = NeverConverging();
  plan.sampling_seconds = 1;
  Program program(Constant(1e4));
  const Sampling sampling = program.Collect(plan);
  EXPECT_EQ(sampling.stop_reason, StopReason::kSamplingTime);
  EXPECT_THAT(sampling.samples, SizeIs(100));
}

TEST(SamplerTest, StopsWhenTheSamplingTimeIsSpent) {
  SamplingPlan plan;
  plan.warmup_calls = 0;
  plan.sampling_seconds = 0.5;
  Program program(Noisy);
  const Sampling sampling = program.Collect(plan);
  EXPECT_EQ(sampling.stop_reason, StopReason::kSamplingTime);
  EXPECT_THAT(sampling.samples, SizeIs(50));
}

TEST(SamplerTest, ReportsAMedianKnownAtTheLastSampleAsConverged) {
  // One outlier lies outside the interval from 9 samples on, which spend the
  // time; the looks are after 8 and 10.
  SamplingPlan plan;
  plan.warmup_calls = 0;
  plan.sampling_seconds = 0.94;
  Program program([](int call) { return call == 1 ? 1.5e5 : 1e5; });
  const Sampling sampling = program.Collect(plan);
  EXPECT_EQ(sampling.stop_reason, StopReason::kConverged);
  EXPECT_THAT(sampling.samples, SizeIs(9));
}

TEST(SamplerTest, StopsBeforeTheCallThatWouldExceedTheWallCap) {
  SamplingPlan plan = NeverConverging();
  plan.max_case_seconds = 30.5;
  Program program(Constant(kSecond));
  const Sampling sampling = program.Collect(plan);
  EXPECT_EQ(sampling.stop_reason, StopReason::kWallCap);
  EXPECT_THAT(sampling.samples, SizeIs(29));
  EXPECT_LE(program.wall_seconds(), 5 + 30.5);
}

TEST(SamplerTest, TakesTheLeastNumberOfSamplesEvenPastTheWallCap) {
  SamplingPlan plan;
  plan.min_samples = 3;
  plan.max_case_seconds = 10;
  Program program(Constant(60 * kSecond));
  const Sampling sampling = program.Collect(plan);
  EXPECT_EQ(sampling.stop_reason, StopReason::kSamplingTime);
  EXPECT_THAT(sampling.samples, SizeIs(3));
  plan.sampling_seconds = 1e9;
  EXPECT_EQ(program.Collect(plan).stop_reason, StopReason::kWallCap);
  EXPECT_EQ(program.calls, 2 * (1 + 1 + 3));
}

TEST(SamplerTest, TakesTheLeastNumberOfSamplesEvenIfTheMedianIsKnown) {
  SamplingPlan plan;
  plan.min_samples = 40;
  Program program(Constant(1000));
  EXPECT_THAT(program.Collect(plan).samples, SizeIs(40));
}

TEST(SamplerTest, TakesASampleEvenIfNoneIsAskedFor) {
  SamplingPlan plan = NeverConverging();
  plan.min_samples = 0;
  plan.sampling_seconds = 0;
  Program program(Constant(1000));
  EXPECT_THAT(program.Collect(plan).samples, SizeIs(1));
}

TEST(SamplerTest, KeepsABoundedNumberOfSamples) {
  Program program(Constant(1));
  const Sampling sampling = program.Collect(NeverConverging());
  EXPECT_EQ(sampling.stop_reason, StopReason::kSamplingTime);
  EXPECT_THAT(sampling.samples, SizeIs(kMaxSamples));
}

TEST(SamplerTest, KeepsWholeSamplesInOrder) {
  int call = 0;
  SamplingPlan plan = NeverConverging();
  plan.sampling_seconds = 0;
  plan.min_samples = 2;
  const Sampling sampling = CollectSamples(
      plan,
      [&call] {
        ++call;
        return Sample{10.0 * call, 1.0 * call, {2.0 * call, 0, 0, 0}};
      },
      [] { return 0.0; });
  EXPECT_EQ(sampling.first_call.host_us, 1);
  ASSERT_THAT(sampling.samples, SizeIs(2));
  EXPECT_EQ(sampling.samples[0].total_us, 20);
  EXPECT_EQ(sampling.samples[0].host_us, 2);
  EXPECT_THAT(sampling.samples[1].phase_us, ElementsAre(6, 0, 0, 0, 0));
}

// What the exception says if call `bad` of a case yields `sample`.
std::string ErrorOf(int bad, const Sample& sample) {
  int call = 0;
  SamplingPlan plan = NeverConverging();
  plan.warmup_calls = 1;
  plan.sampling_seconds = 0;
  try {
    CollectSamples(
        plan, [&] { return call++ == bad ? sample : Sample(); },
        [] { return 0.0; });
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SamplerErrorTest, RefusesTimesThatCannotBe) {
  Sample negative;
  negative.total_us = -1.5;
  for (const int call : {0, 1, 2, 6}) {  // first, warm-up, samples
    EXPECT_THAT(ErrorOf(call, negative), HasSubstr("total_us = -1.5"));
  }
  EXPECT_EQ(ErrorOf(7, negative), "no error") << "there is no such call";
  Sample sample;
  sample.host_us = std::numeric_limits<double>::infinity();
  EXPECT_THAT(ErrorOf(3, sample), HasSubstr("host_us = inf"));
  sample = Sample();
  sample.phase_us[2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(ErrorOf(3, sample), HasSubstr("phase_us = nan"));
}

TEST(SamplerErrorTest, PassesExceptionsOn) {
  for (const int bad : {0, 2, 40'000}) {
    Program program([bad](int call) {
      if (call == bad) throw std::domain_error("out of memory");
      return 3.0;
    });
    SamplingPlan plan;
    plan.target_half_width = 0;
    EXPECT_THROW(program.Collect(plan), std::domain_error);
    EXPECT_EQ(program.calls, bad + 1);
  }
}

TEST(SamplerTest, TheMedianOfATimedPhaseDecides) {
  // The call takes as long as ever, its backward phase does not.
  const auto collect = [](std::optional<Phase> phase) {
    SamplingPlan plan;
    plan.warmup_calls = 0;
    plan.timed_phase = phase;
    int calls = 0;
    double wall_us = 0;
    return CollectSamples(
        plan,
        [&] {
          Sample sample;
          const double backward_us = calls++ % 2 == 0 ? 4000 : 6000;
          sample.total_us = 10000;
          sample.phase_us = {10000 - backward_us, 0, backward_us, 0};
          wall_us += sample.total_us;
          return sample;
        },
        [&] { return wall_us / kSecond; });
  };
  EXPECT_EQ(collect(std::nullopt).stop_reason, StopReason::kConverged);
  EXPECT_EQ(collect(Phase::kBackward).stop_reason, StopReason::kSamplingTime);
}

SamplingPlan Counted(int warmup_calls, int samples) {
  SamplingPlan plan;
  plan.count = SamplingPlan::Count{warmup_calls, samples};
  plan.warmup_calls = 7;  // must not matter
  return plan;
}

TEST(SamplerTest, ACountIsKeptExactlyWithoutAFirstCallApart) {
  Program program([](int call) { return call == 0 ? 900.0 : 10.0 + call; });
  const Sampling sampling = program.Collect(Counted(2, 4));
  EXPECT_EQ(program.calls, 6);
  EXPECT_THAT(sampling.warmup_us, ElementsAre(900, 11));
  EXPECT_THAT(sampling.samples, SizeIs(4));
  EXPECT_EQ(sampling.samples.front().total_us, 12);
  EXPECT_EQ(sampling.first_call.total_us, 900);
  EXPECT_EQ(sampling.stop_reason, StopReason::kCount);
}

TEST(SamplerTest, WithoutWarmUpTheFirstCallIsTheFirstSample) {
  Program program([](int call) { return call == 0 ? 900.0 : 10.0; });
  const Sampling sampling = program.Collect(Counted(0, 10));
  EXPECT_THAT(sampling.samples, SizeIs(10));
  EXPECT_EQ(sampling.samples.front().total_us, 900);
  EXPECT_EQ(sampling.first_call.total_us, 900);
}

TEST(SamplerTest, TheWallCapCutsACountShortButNotBelowTheMinimum) {
  SamplingPlan plan = Counted(1, 100);
  plan.max_case_seconds = 10;
  Program slow(Constant(kSecond));
  const Sampling sampling = slow.Collect(plan);
  EXPECT_THAT(sampling.samples, SizeIs(9));
  EXPECT_EQ(sampling.stop_reason, StopReason::kWallCap);
  Program slower(Constant(8 * kSecond));
  EXPECT_THAT(slower.Collect(plan).samples, SizeIs(plan.min_samples));
}

TEST(SamplerTest, SamplesKnowTheirProcess) {
  Program program(Constant(10));
  EXPECT_EQ(program.Collect(Counted(0, 1)).process_id, ::getpid());
  EXPECT_EQ(program.Collect({}).process_id, ::getpid());
}

TEST(StopReasonTest, NamesAreReadBack) {
  for (const StopReason reason :
       {StopReason::kConverged, StopReason::kSamplingTime, StopReason::kWallCap,
        StopReason::kCount}) {
    EXPECT_EQ(ParseStopReason(StopReasonName(reason)).value(), reason);
  }
  EXPECT_THAT(std::string(ParseStopReason("tired").status().message()),
              HasSubstr("'tired'"));
}

}  // namespace
}  // namespace trainbench
