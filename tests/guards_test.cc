// SPDX-License-Identifier: MIT

#include "fixtures/guards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace trainbench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Sample MakeSample(double total_us, double forward_us, double backward_us) {
  Sample sample;
  sample.total_us = total_us;
  sample.phase_us[static_cast<std::size_t>(Phase::kForward)] = forward_us;
  sample.phase_us[static_cast<std::size_t>(Phase::kBackward)] = backward_us;
  return sample;
}

// A step of 1000 us at half of what the device can reach: every guard passes.
Evidence Plausible() {
  Evidence evidence;
  evidence.cost.flops = 1e9;
  evidence.cost.parameter_bytes = 4000;
  evidence.samples.assign(5, MakeSample(1000, 400, 600));
  evidence.peak_bytes = 9000;
  evidence.flops_bound = 2e12;
  return evidence;
}

void SetSamples(Evidence& evidence, const Sample& sample) {
  evidence.samples.assign(evidence.samples.size(), sample);
}

std::string WhyNot(const Evidence& evidence) {
  const absl::Status status = CheckPlausible(evidence);
  if (status.ok()) return "";
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), StartsWith("implausible: "));
  return std::string(status.message());
}

TEST(GuardsTest, AllPassOnAPlausibleCase) {
  EXPECT_EQ(WhyNot(Plausible()), "");
}

TEST(GuardsTest, NoSamplesAreImplausible) {
  Evidence evidence = Plausible();
  evidence.samples.clear();
  EXPECT_EQ(WhyNot(evidence), "implausible: there are no samples");
}

TEST(GuardsTest, TheRateMayNotExceedTheBound) {
  Evidence evidence = Plausible();
  evidence.flops_bound = 1e12 * (1 + 1e-9);
  EXPECT_EQ(WhyNot(evidence), "");
  evidence.flops_bound = 1e12 * (1 - 1e-9);
  EXPECT_THAT(WhyNot(evidence), HasSubstr("device can reach"));
  evidence.flops_bound = 5e11;
  EXPECT_EQ(WhyNot(evidence),
            "implausible: 1e+09 FLOP in 1000 us are 1e+12 FLOP/s, more than "
            "the 5e+11 FLOP/s that the device can reach");
}

TEST(GuardsTest, WhatMayBeLeftOutIsNotHeldAgainstTheRate) {
  Evidence evidence = Plausible();
  evidence.flops_bound = 6e11;
  EXPECT_THAT(WhyNot(evidence), HasSubstr("device can reach"));
  evidence.cost.least_flops = 5e8;
  EXPECT_EQ(WhyNot(evidence), "");
  evidence.flops_bound = 4e11;
  EXPECT_THAT(WhyNot(evidence), HasSubstr("implausible: 5e+08 FLOP in"));
}

TEST(GuardsTest, TheMedianSampleDecidesAboutTheRate) {
  Evidence evidence = Plausible();
  evidence.samples[0] = evidence.samples[1] = MakeSample(1, 1, 0);
  EXPECT_EQ(WhyNot(evidence), "");
  evidence.samples[2] = MakeSample(1, 1, 0);
  EXPECT_THAT(WhyNot(evidence), HasSubstr("device can reach"));
}

TEST(GuardsTest, AnUnknownBoundForbidsNothing) {
  Evidence evidence = Plausible();
  evidence.cost.flops = 1e30;
  evidence.flops_bound.reset();
  EXPECT_EQ(WhyNot(evidence), "");
}

TEST(GuardsTest, ACostIsAFiniteAmount) {
  for (const double bad : {-1.0, std::nan(""), HUGE_VAL}) {
    Evidence evidence = Plausible();
    evidence.flops_bound.reset();
    evidence.cost.flops = bad;
    EXPECT_THAT(WhyNot(evidence), HasSubstr("a cost of ")) << bad;
    evidence = Plausible();
    evidence.cost.bytes = bad;
    EXPECT_THAT(WhyNot(evidence), HasSubstr("a cost of ")) << bad;
  }
  Evidence evidence = Plausible();
  evidence.cost.flops = -2;
  EXPECT_EQ(WhyNot(evidence), "implausible: a cost of -2 FLOP and 0 bytes");
}

TEST(GuardsTest, WorkTakesTime) {
  Evidence evidence = Plausible();
  evidence.flops_bound.reset();
  evidence.samples[3] = MakeSample(0, 0, 0);  // one is enough
  EXPECT_EQ(WhyNot(evidence),
            "implausible: a sample of 1e+09 FLOP took no time");
  evidence.samples[3] = MakeSample(1e-3, 1e-3, 0);
  EXPECT_EQ(WhyNot(evidence), "");
}

TEST(GuardsTest, ACaseWithoutFlopsMayTakeAnyTime) {
  Evidence evidence = Plausible();
  evidence.cost.flops = 0;
  evidence.flops_bound = 1;
  EXPECT_EQ(WhyNot(evidence), "");
  SetSamples(evidence, MakeSample(0, 0, 0));
  EXPECT_EQ(WhyNot(evidence), "");
}

TEST(GuardsTest, PhasesOfALongStepMayMissTwoPercent) {
  Evidence evidence = Plausible();
  SetSamples(evidence, MakeSample(1000, 400, 580));
  EXPECT_EQ(WhyNot(evidence), "");
  SetSamples(evidence, MakeSample(1000, 400, 579.9));
  EXPECT_EQ(WhyNot(evidence),
            "implausible: the phases miss 20.1 us of a step of 1000 us, more "
            "than 2 %");
}

TEST(GuardsTest, PhasesMayNotExceedTheStepEither) {
  Evidence evidence = Plausible();
  SetSamples(evidence, MakeSample(1000, 400, 620));
  EXPECT_EQ(WhyNot(evidence), "");
  SetSamples(evidence, MakeSample(1000, 400, 620.1));
  EXPECT_THAT(WhyNot(evidence), HasSubstr("the phases miss 20.1 us"));
}

TEST(GuardsTest, PhasesOfAShortStepMayMissWhatTheStampsCost) {
  Evidence evidence = Plausible();
  evidence.cost.flops = 0;
  SetSamples(evidence, MakeSample(50, 20, 25));
  EXPECT_EQ(WhyNot(evidence), "");
  SetSamples(evidence, MakeSample(50, 20, 24.9));
  EXPECT_THAT(WhyNot(evidence), HasSubstr("5.1 us of a step of 50 us"));
}

TEST(GuardsTest, FewOutliersOfPhasesAreForgiven) {
  Evidence evidence = Plausible();
  evidence.samples[0] = evidence.samples[1] = MakeSample(5000, 400, 600);
  EXPECT_EQ(WhyNot(evidence), "");
  evidence.samples[2] = MakeSample(5000, 400, 600);
  EXPECT_THAT(WhyNot(evidence), HasSubstr("the phases miss 4000 us"));
}

TEST(GuardsTest, ACaseWithoutPhasesHasNothingToAddUp) {
  Evidence evidence = Plausible();
  SetSamples(evidence, MakeSample(1000, 0, 0));
  EXPECT_EQ(WhyNot(evidence), "");
}

TEST(GuardsTest, ThePeakHoldsTheParameters) {
  Evidence evidence = Plausible();
  evidence.peak_bytes = 4000;
  EXPECT_EQ(WhyNot(evidence), "");
  evidence.peak_bytes = 3999;
  EXPECT_EQ(WhyNot(evidence),
            "implausible: the peak of 3999 bytes is below the 4000 bytes of "
            "the parameters");
  evidence.cost.parameter_bytes = 0;
  evidence.peak_bytes = 0;
  EXPECT_EQ(WhyNot(evidence), "");
}

TEST(GuardsTest, ACallLeavesTheMemoryAsItWas) {
  Evidence evidence = Plausible();
  evidence.net_bytes = 1;
  EXPECT_EQ(WhyNot(evidence),
            "implausible: a call changed the live memory by 1 bytes");
  evidence.net_bytes = -4096;
  EXPECT_THAT(WhyNot(evidence), HasSubstr("by -4096 bytes"));
}

TEST(GuardsTest, BytesBeyondFourGibibytesAreWrittenInFull) {
  Evidence evidence = Plausible();
  evidence.cost.parameter_bytes = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(WhyNot(evidence), HasSubstr("the 9223372036854775807 bytes"));
}

}  // namespace
}  // namespace trainbench
