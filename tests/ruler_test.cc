// SPDX-License-Identifier: MIT
// The ruler itself: the real clock, timer and sampler on work whose time is
// known. A shared machine may take the CPU away at any moment, so a sample is
// compared with how long the work says that it took, not with what was asked.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "fixtures/sampler.h"
#include "fixtures/statistics.h"
#include "fixtures/steady_clock.h"
#include "fixtures/timer.h"
#include "tests/fake_workload.h"

namespace trainbench {
namespace {

Sampling Measure(const std::function<void(PhaseObserver&)>& call,
                 const SamplingPlan& plan) {
  SteadyClock clock;
  Timer timer(clock);
  return CollectSamples(
      plan, [&] { return timer.Time(call); },
      [&] { return clock.HostUs() * 1e-6; });
}

SamplingPlan Plan(double sampling_seconds) {
  SamplingPlan plan;
  plan.warmup_calls = 5;
  plan.sampling_seconds = sampling_seconds;
  plan.target_half_width = 0;
  return plan;
}

TEST(RulerTest, AMillisecondIsAMillisecondWithinOnePercent) {
  std::vector<double> spins_us;
  const Sampling sampling = Measure(
      [&](PhaseObserver&) { spins_us.push_back(SpinUs(1000)); }, Plan(0.2));
  ASSERT_GE(sampling.samples.size(), 5U);
  // First call, warm-up, samples.
  ASSERT_EQ(spins_us.size(), 1 + 5 + sampling.samples.size());
  std::vector<double> errors;
  for (std::size_t i = 0; i < sampling.samples.size(); ++i) {
    const double spin_us = spins_us[i + 6];
    EXPECT_GE(sampling.samples[i].total_us, spin_us) << "time was lost";
    errors.push_back(sampling.samples[i].total_us / spin_us - 1);
  }
  EXPECT_LT(Median(errors), 0.01);
}

TEST(RulerTest, PhasesAreAsLongAsTheirWork) {
  std::vector<double> errors;
  double forward_us = 0, backward_us = 0;
  const std::function<void(PhaseObserver&)> call = [&](PhaseObserver& phases) {
    phases.Enter(Phase::kForward);
    forward_us = SpinUs(300);
    phases.Enter(Phase::kBackward);
    backward_us = SpinUs(600);
  };
  SteadyClock clock;
  Timer timer(clock);
  for (int i = 0; i < 51; ++i) {
    const Sample sample = timer.Time(call);
    const auto phase_us = [&](Phase phase) {
      return sample.phase_us[static_cast<std::size_t>(phase)];
    };
    errors.push_back(
        std::max(std::abs(phase_us(Phase::kForward) / forward_us - 1),
                 std::abs(phase_us(Phase::kBackward) / backward_us - 1)));
  }
  EXPECT_LT(Median(errors), 0.01);
}

TEST(RulerTest, AnEmptyCallCostsLessThanTwoMicroseconds) {
  const Sampling sampling = Measure([](PhaseObserver&) {}, Plan(0.001));
  double least_us = sampling.samples.front().total_us;
  for (const Sample& sample : sampling.samples) {
    least_us = std::min(least_us, sample.total_us);
  }
  EXPECT_GE(least_us, 0);
  EXPECT_LT(least_us, 2);
}

}  // namespace
}  // namespace trainbench
