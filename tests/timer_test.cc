// SPDX-License-Identifier: MIT

#include "fixtures/timer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "fixtures/steady_clock.h"
#include "tests/fake_clock.h"

namespace trainbench {
namespace {

using ::testing::ElementsAre;

class TimerTest : public ::testing::Test {
 protected:
  FakeClock clock_;
  Timer timer_{clock_};
};

TEST_F(TimerTest, TimesASynchronousCall) {
  const Sample sample = timer_.Time([&](PhaseObserver&) { clock_.Advance(7); });
  EXPECT_EQ(sample.total_us, 7);
  EXPECT_EQ(sample.host_us, 7);
  EXPECT_THAT(sample.phase_us, ElementsAre(0, 0, 0, 0, 0));
}

TEST_F(TimerTest, HostTimeEndsWhenTheCallReturnsNotWhenTheDeviceIsDone) {
  const Sample sample = timer_.Time([&](PhaseObserver&) {
    clock_.AdvanceHost(3);
    clock_.AdvanceDevice(100);
    clock_.AdvanceHost(2);
  });
  EXPECT_EQ(sample.host_us, 5);
  EXPECT_EQ(sample.total_us, 103);
  EXPECT_EQ(clock_.waits(), 1);
}

TEST_F(TimerTest, HostTimeOfLaunchBoundWorkIsTheDeviceTime) {
  const Sample sample = timer_.Time([&](PhaseObserver&) {
    for (int i = 0; i < 10; ++i) {
      clock_.AdvanceHost(4);
      clock_.AdvanceDevice(1);
    }
  });
  EXPECT_EQ(sample.host_us, 40);
  EXPECT_EQ(sample.total_us, 41);
}

TEST_F(TimerTest, DoesNotCountWorkThatWasEnqueuedBefore) {
  clock_.AdvanceDevice(1000);
  const Sample sample =
      timer_.Time([&](PhaseObserver&) { clock_.AdvanceDevice(5); });
  EXPECT_EQ(sample.total_us, 5);
}

TEST_F(TimerTest, PhasesTileTheCall) {
  const Sample sample = timer_.Time([&](PhaseObserver& observer) {
    observer.Enter(Phase::kForward);
    clock_.AdvanceDevice(10);
    observer.Enter(Phase::kLoss);
    clock_.AdvanceDevice(1);
    observer.Enter(Phase::kBackward);
    clock_.AdvanceDevice(20);
    observer.Enter(Phase::kCommunication);
    clock_.AdvanceDevice(7);
    observer.Enter(Phase::kOptimizer);
    clock_.AdvanceDevice(5);
  });
  EXPECT_THAT(sample.phase_us, ElementsAre(10, 1, 20, 7, 5));
  EXPECT_EQ(sample.total_us, 43);
}

TEST_F(TimerTest, APhaseEnteredTwiceIsSummed) {
  const Sample sample = timer_.Time([&](PhaseObserver& observer) {
    for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
      observer.Enter(Phase::kForward);
      clock_.AdvanceDevice(10);
      observer.Enter(Phase::kBackward);
      clock_.AdvanceDevice(20);
    }
  });
  EXPECT_THAT(sample.phase_us, ElementsAre(20, 0, 40, 0, 0));
}

TEST_F(TimerTest, TimeBeforeTheFirstPhaseBelongsToNone) {
  const Sample sample = timer_.Time([&](PhaseObserver& observer) {
    clock_.Advance(3);
    observer.Enter(Phase::kForward);
    clock_.Advance(10);
  });
  EXPECT_THAT(sample.phase_us, ElementsAre(10, 0, 0, 0, 0));
  EXPECT_EQ(sample.total_us, 13);
}

TEST_F(TimerTest, ASampleKnowsNothingOfTheOneBefore) {
  timer_.Time([&](PhaseObserver& observer) {
    observer.Enter(Phase::kLoss);
    clock_.Advance(9);
  });
  const Sample sample = timer_.Time([&](PhaseObserver& observer) {
    observer.Enter(Phase::kForward);
    clock_.Advance(2);
  });
  EXPECT_THAT(sample.phase_us, ElementsAre(2, 0, 0, 0, 0));
  EXPECT_EQ(sample.total_us, 2);
}

TEST_F(TimerTest, TakesAsManyPhasesAsThereAreSlots) {
  const auto enter = [&](std::size_t count) {
    return timer_.Time([&, count](PhaseObserver& observer) {
      for (std::size_t i = 0; i < count; ++i) {
        observer.Enter(Phase::kForward);
        clock_.Advance(1);
      }
    });
  };
  EXPECT_EQ(enter(Clock::kSlots - 2).phase_us[0], Clock::kSlots - 2);
  EXPECT_THROW(enter(Clock::kSlots - 1), std::length_error);
  EXPECT_EQ(enter(2).phase_us[0], 2) << "unusable after the exception";
}

TEST_F(TimerTest, PassesExceptionsOnAndStaysUsable) {
  const auto fail = [&](PhaseObserver& observer) {
    observer.Enter(Phase::kBackward);
    throw std::domain_error("out of memory");
  };
  EXPECT_THROW(timer_.Time(fail), std::domain_error);
  const Sample sample = timer_.Time([&](PhaseObserver&) { clock_.Advance(4); });
  EXPECT_EQ(sample.total_us, 4);
  EXPECT_THAT(sample.phase_us, ElementsAre(0, 0, 0, 0, 0));
}

TEST(SteadyClockTest, StampsAndHostTimeNeverGoBack) {
  SteadyClock clock;
  double host = clock.HostUs();
  EXPECT_GE(host, 0);
  clock.Stamp(0);
  for (std::size_t slot = 1; slot < Clock::kSlots; ++slot) {
    clock.Stamp(slot);
    EXPECT_GE(clock.ElapsedUs(slot - 1, slot), 0);
    EXPECT_GE(clock.HostUs(), host);
    host = clock.HostUs();
  }
}

TEST(SteadyClockTest, StampsAndHostTimeHaveOneUnit) {
  SteadyClock clock;
  const double begin = clock.HostUs();
  clock.Stamp(0);
  for (int i = 0; i < 1000; ++i) clock.Stamp(1);
  const double end = clock.HostUs();
  EXPECT_GT(clock.ElapsedUs(0, 1), 0);
  EXPECT_LE(clock.ElapsedUs(0, 1), end - begin + 1e-3);
}

TEST(SteadyClockTest, PhasesOfACallSumToItsTime) {
  SteadyClock clock;
  Timer timer(clock);
  const Sample sample = timer.Time([](PhaseObserver& observer) {
    for (const Phase phase : kPhases) observer.Enter(phase);
  });
  const double sum =
      std::accumulate(sample.phase_us.begin(), sample.phase_us.end(), 0.0);
  EXPECT_LE(sum, sample.total_us + 1e-6);
  EXPECT_GE(sample.host_us, 0);
}

}  // namespace
}  // namespace trainbench
