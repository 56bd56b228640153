// SPDX-License-Identifier: MIT

#include "fixtures/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace trainbench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using Counters = std::map<std::string, double>;

Sample MakeSample(double total_us, double host_us) {
  Sample sample;
  sample.total_us = total_us;
  sample.host_us = host_us;
  return sample;
}

Sampling MakeSampling(const std::vector<double>& totals) {
  Sampling sampling;
  for (const double total : totals) {
    sampling.samples.push_back(MakeSample(total, total / 4));
  }
  return sampling;
}

// Median 15 us.
Sampling EightSamples() {
  Sampling sampling = MakeSampling({22, 8, 10, 20, 12, 14, 18, 16});
  sampling.first_call.total_us = 900;
  sampling.warmup_us = {300, 200, 100};
  double backward_us = 1;
  for (Sample& sample : sampling.samples) {
    sample.phase_us = {6, 0.5, backward_us, 0};
    backward_us += 1;
  }
  // Entered by one sample in eight: the median is 0.
  sampling.samples[0].phase_us[static_cast<std::size_t>(Phase::kOptimizer)] = 1;
  return sampling;
}

Case FullCase() {
  Case one{.name = CaseName("e").Word("precision", "fp32").Value("batch", 4)};
  one.cost = {.flops = 3e6,
              .bytes = 1500,
              .params = 77,
              .parameter_bytes = 308,
              .predicted_peak_bytes = 5000};
  return one;
}

Case BareCase() { return {.name = CaseName("e"), .cost = {}}; }

Counters Bare(const Sampling& sampling, bool asynchronous) {
  return MakeCounters(BareCase(), sampling, MemoryPeak{4096, {}}, {},
                      asynchronous);
}

std::set<std::string> Names(const Counters& counters) {
  std::set<std::string> names;
  for (const auto& [name, value] : counters) names.insert(name);
  return names;
}

TEST(CountersTest, EveryCounterHasItsValue) {
  Counters counters = MakeCounters(FullCase(), EightSamples(),
                                   MemoryPeak{4096, 8192}, 1.0, true);
  const Counters expected = {
      {"flops", 3e6},
      {"flops_per_second", 3e6 / 15e-6},
      {"bytes", 1500},
      {"bytes_per_second", 1500 / 15e-6},
      {"params", 77},
      {"peak_bytes", 4096},
      {"peak_reserved_bytes", 8192},
      {"predicted_peak_bytes", 5000},
      {"samples", 8},
      {"min_us", 8},
      {"p50_us", 15},
      {"p95_us", 21.3},
      {"mean_us", 15},
      {"stddev_us", std::sqrt(24.0)},
      {"cv", std::sqrt(24.0) / 15},
      // With 8 samples only the extremes cover 95 %.
      {"half_width", 7.0 / 15},
      {"host_us", 3.75},
      {"first_call_us", 900},
      {"warmup_calls", 3},
      {"launch_bound", 0},
      {"forward_us", 6},
      {"loss_us", 0.5},
      {"backward_us", 4.5},
      {"mfu", 0.2},
      {"batch", 4},
  };
  EXPECT_EQ(Names(counters), Names(expected));
  for (const auto& [name, value] : expected) {
    EXPECT_THAT(counters[name], DoubleNear(value, 1e-12 * value)) << name;
  }
}

TEST(CountersTest, WhatIsNotKnownIsLeftOut) {
  EXPECT_THAT(Names(Bare(MakeSampling({1, 2, 3, 4, 5, 6}), false)),
              UnorderedElementsAre("peak_bytes", "samples", "min_us", "p50_us",
                                   "p95_us", "mean_us", "stddev_us", "cv",
                                   "half_width", "host_us", "first_call_us",
                                   "warmup_calls", "launch_bound"));
}

TEST(CountersTest, FiveSamplesDoNotBoundTheMedian) {
  EXPECT_THAT(Bare(MakeSampling({1, 2, 3, 4, 5}), false),
              Not(Contains(Key("half_width"))));
  EXPECT_THAT(Bare(MakeSampling({1, 2, 3, 4, 5, 6}), false),
              Contains(Key("half_width")));
}

TEST(CountersTest, NothingIsNanOrInfinite) {
  const std::vector<std::vector<double>> cases = {
      {0}, {0, 0, 0, 0, 0, 0, 0}, {7}, {0, 0, 0, 0, 5}};
  for (const auto& totals : cases) {
    const Counters counters = MakeCounters(FullCase(), MakeSampling(totals),
                                           MemoryPeak{0, 0}, 1.0, true);
    for (const auto& [name, value] : counters) {
      EXPECT_TRUE(std::isfinite(value)) << name;
    }
    const bool has_time = totals.size() == 1 && totals[0] > 0;
    for (const char* rate : {"flops_per_second", "bytes_per_second", "mfu"}) {
      EXPECT_EQ(counters.contains(rate), has_time) << rate;
    }
    EXPECT_THAT(counters, Contains(Pair("flops", 3e6)));
  }
}

TEST(CountersTest, LaunchBoundFromNineTenthsOn) {
  const auto launch_bound = [](double host_us, bool asynchronous) {
    Sampling sampling;
    sampling.samples.assign(5, MakeSample(10, host_us));
    return Bare(sampling, asynchronous).at("launch_bound");
  };
  EXPECT_EQ(launch_bound(8.999, true), 0);
  EXPECT_EQ(launch_bound(9, true), 1);
  EXPECT_EQ(launch_bound(12, true), 1);
  // A CPU does the work while it "enqueues" it.
  EXPECT_EQ(launch_bound(9, false), 0);
  EXPECT_EQ(launch_bound(10, false), 0);
}

TEST(CountersTest, MfuNeedsThePeakAndTheFlops) {
  const Sampling sampling = EightSamples();
  const auto counters = [&](const Case& one, std::optional<double> peak) {
    return MakeCounters(one, sampling, MemoryPeak{4096, {}}, peak, false);
  };
  EXPECT_THAT(counters(FullCase(), 2.0),
              Contains(Pair("mfu", DoubleNear(0.1, 1e-12))));
  EXPECT_THAT(counters(FullCase(), std::nullopt), Not(Contains(Key("mfu"))));
  EXPECT_THAT(counters(BareCase(), 2.0), Not(Contains(Key("mfu"))));
}

TEST(CountersTest, WithoutAMemoryPassThereIsNoPeak) {
  EXPECT_THAT(MakeCounters(BareCase(), EightSamples(), {}, {}, false),
              Not(Contains(Key("peak_bytes"))));
}

TEST(CountersTest, ATimedPhaseIsTheTimeOfTheRow) {
  Case one = FullCase();
  one.protocol.timed_phase = Phase::kBackward;
  Sampling sampling;
  for (const double us : {4.0, 5.0, 6.0}) {
    Sample sample = MakeSample(20, 19);
    sample.phase_us = {20 - us, 0, us, 0};
    sampling.samples.push_back(sample);
  }
  sampling.first_call = MakeSample(90, 1);
  sampling.first_call.phase_us = {20, 0, 70, 0};
  const Counters counters =
      MakeCounters(one, sampling, MemoryPeak{1, {}}, {}, true);
  EXPECT_EQ(counters.at("p50_us"), 5);
  EXPECT_EQ(counters.at("min_us"), 4);
  EXPECT_EQ(counters.at("mean_us"), 5);
  EXPECT_EQ(counters.at("first_call_us"), 70);
  EXPECT_EQ(counters.at("forward_us"), 15);
  EXPECT_DOUBLE_EQ(counters.at("flops_per_second"), 3e6 / 5e-6);
  // The host's time is that of the whole call, and so it is judged.
  EXPECT_EQ(counters.at("launch_bound"), 1);
  EXPECT_EQ(counters.at("host_us"), 19);
  // On a CPU the host does the work itself.
  EXPECT_EQ(MakeCounters(one, sampling, {}, {}, false).at("host_us"), 5);
}

TEST(CountersTest, ANameHasOneMeaning) {
  Case one = FullCase();
  one.name.Value("bytes", 7);
  EXPECT_THROW(MakeCounters(one, EightSamples(), {}, {}, false),
               std::logic_error);
  Counters counters = {{"sum", 1}};
  EXPECT_THROW(AddOnce("sum", 1, counters), std::logic_error);
  AddOnce("difference", 2, counters);
  EXPECT_EQ(counters.at("difference"), 2);
}

TEST(CountersTest, OneSampleHasNoSpread) {
  EXPECT_THAT(Bare(MakeSampling({5}), false),
              AllOf(Not(Contains(Key("cv"))), Not(Contains(Key("stddev_us")))));
}

TEST(CountersTest, NoTimeAndNoHostTimeAreNotLaunchBound) {
  Sampling sampling;
  sampling.samples = {MakeSample(0, 0)};
  EXPECT_EQ(Bare(sampling, true).at("launch_bound"), 0);
  sampling.samples = {MakeSample(10, std::nan(""))};
  const Counters counters = Bare(sampling, true);
  EXPECT_EQ(counters.at("launch_bound"), 0);
  EXPECT_THAT(counters, Not(Contains(Key("host_us"))));
}

TEST(CountersTest, KeepFiniteDropsTheRest) {
  Counters counters = {{"nan", std::nan("")}, {"inf", HUGE_VAL}, {"good", 1}};
  KeepFinite(counters);
  EXPECT_THAT(counters, testing::ElementsAre(Pair("good", 1)));
}

TEST(CountersTest, NumericParametersAreCountersAndWordsAreNot) {
  Case one = BareCase();
  one.name.Word("model", "tiny").Value("seq", 512).Value("rank", 0);
  const Counters counters =
      MakeCounters(one, EightSamples(), MemoryPeak{4096, {}}, {}, false);
  EXPECT_THAT(counters, Contains(Pair("seq", 512)));
  EXPECT_THAT(counters, Contains(Pair("rank", 0)));
  EXPECT_THAT(counters, Not(Contains(Key("model"))));
}

}  // namespace
}  // namespace trainbench
