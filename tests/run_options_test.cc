// SPDX-License-Identifier: MIT

#include "fixtures/run_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace trainbench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

ModelConfig Mine(const std::string& name) { return {name, 64, 128, 2, 4}; }

// What is wrong with the defaults after `change`, or "".
std::string Wrong(const std::function<void(RunOptions&)>& change) {
  RunOptions options;
  change(options);
  return std::string(Validate(options).message());
}

std::vector<std::string> Selected(const RunOptions& options,
                                  const std::vector<std::string>& defaults) {
  std::vector<std::string> names;
  for (const ModelConfig& model : SelectModels(options, defaults)) {
    names.push_back(model.name);
  }
  return names;
}

TEST(SuiteTest, NamesRoundTrip) {
  for (const Suite suite : kSuites) {
    const auto parsed = ParseSuite(SuiteName(suite));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, suite);
  }
  EXPECT_EQ(ParseSuite("paper").value(), Suite::kPaper);
}

TEST(SuiteTest, AnErrorListsTheNames) {
  for (const std::string name : {"fast", "", "Quick", "quick "}) {
    const absl::Status status = ParseSuite(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(std::string(status.message()),
              "--suite is '" + name + "'; allowed: smoke, quick, paper");
  }
}

TEST(ValidateTest, TheDefaultsAreValid) {
  EXPECT_EQ(Validate(RunOptions()), absl::OkStatus());
}

TEST(ValidateTest, Device) {
  for (const char* device : {"auto", "cpu", "cuda"}) {
    EXPECT_EQ(Wrong([&](auto& o) { o.device = device; }), "");
  }
  EXPECT_EQ(Wrong([](auto& o) { o.device = "gpu"; }),
            "--device is 'gpu'; allowed: auto, cpu, cuda");
  EXPECT_THAT(Wrong([](auto& o) { o.device = ""; }),
              HasSubstr("--device is ''"));
}

TEST(ValidateTest, Threads) {
  for (const int threads : {0, 1, 4096}) {
    EXPECT_EQ(Wrong([&](auto& o) { o.threads = threads; }), "");
  }
  EXPECT_EQ(Wrong([](auto& o) { o.threads = -1; }),
            "--threads is -1; allowed: 1 to 4096, or 0 for the physical cores");
  EXPECT_THAT(Wrong([](auto& o) { o.threads = 4097; }),
              HasSubstr("--threads is 4097"));
}

TEST(ValidateTest, Ranks) {
  for (const int ranks : {1, 4096}) {
    EXPECT_EQ(Wrong([&](auto& o) { o.ranks = ranks; }), "");
  }
  EXPECT_EQ(Wrong([](auto& o) { o.ranks = 0; }),
            "--ranks is 0; allowed: 1 to 4096");
  EXPECT_THAT(Wrong([](auto& o) { o.ranks = 4097; }),
              HasSubstr("--ranks is 4097"));
  for (const double bad : {0.0, -1.0, kNan, kInfinity}) {
    EXPECT_THAT(Wrong([&](auto& o) { o.rank_timeout_seconds = bad; }),
                HasSubstr("--rank_timeout_seconds is "));
  }
}

TEST(SelectRanksTest, TheFlagReplacesTheDefaults) {
  RunOptions options;
  EXPECT_THAT(SelectRanks(options, {2, 4}), testing::ElementsAre(2, 4));
  options.ranks = 8;
  EXPECT_THAT(SelectRanks(options, {2, 4}), testing::ElementsAre(8));
}

TEST(ValidateTest, PeakTflops) {
  EXPECT_EQ(Wrong([](auto& o) { o.peak_tflops = 0.5; }), "");
  EXPECT_EQ(Wrong([](auto& o) { o.peak_tflops = 0; }),
            "--peak_tflops is 0; allowed: more than 0");
  for (const double bad : {-1.0, kNan, kInfinity}) {
    EXPECT_THAT(Wrong([&](auto& o) { o.peak_tflops = bad; }),
                HasSubstr("--peak_tflops is "));
  }
}

TEST(ValidateTest, BatchAndSeq) {
  EXPECT_EQ(Wrong([](auto& o) { o.batch = o.seq = 1; }), "");
  EXPECT_EQ(Wrong([](auto& o) { o.batch = o.seq = int64_t{1} << 20; }), "");
  EXPECT_EQ(Wrong([](auto& o) { o.batch = 0; }),
            "--batch is 0; allowed: 1 to 1048576");
  EXPECT_EQ(Wrong([](auto& o) { o.seq = (int64_t{1} << 20) + 1; }),
            "--seq is 1048577; allowed: 1 to 1048576");
}

TEST(ValidateTest, WarmupCalls) {
  EXPECT_EQ(Wrong([](auto& o) { o.warmup_calls = 0; }), "");
  EXPECT_EQ(Wrong([](auto& o) { o.warmup_calls = -2; }),
            "--warmup is -2; allowed: auto, or 0 and more");
}

TEST(ValidateTest, SamplingSecondsAreNamedAsTheirFlag) {
  EXPECT_EQ(Wrong([](auto& o) { o.sampling_seconds = 0; }), "");
  EXPECT_EQ(Wrong([](auto& o) { o.sampling_seconds = 3600; }), "");
  EXPECT_EQ(Wrong([](auto& o) { o.sampling_seconds = 3601; }),
            "--benchmark_min_time is 3601; allowed: 0 to 3600 seconds");
  for (const double bad : {-0.1, kNan, kInfinity}) {
    EXPECT_THAT(Wrong([&](auto& o) { o.sampling_seconds = bad; }),
                HasSubstr("--benchmark_min_time is "));
  }
}

TEST(ValidateTest, MaxCaseSeconds) {
  EXPECT_EQ(Wrong([](auto& o) { o.max_case_seconds = 86400; }), "");
  EXPECT_EQ(Wrong([](auto& o) { o.max_case_seconds = 0; }),
            "--max_case_seconds is 0; allowed: more than 0, at most 86400");
  for (const double bad : {-1.0, 86401.0, kNan}) {
    EXPECT_THAT(Wrong([&](auto& o) { o.max_case_seconds = bad; }),
                HasSubstr("--max_case_seconds is "));
  }
}

TEST(ValidateTest, InjectedSlowdown) {
  EXPECT_EQ(Wrong([](auto& o) { o.injected_slowdown_percent = 1000; }), "");
  for (const double bad : {-1.0, 1001.0, kNan}) {
    EXPECT_THAT(Wrong([&](auto& o) { o.injected_slowdown_percent = bad; }),
                HasSubstr("--injected_slowdown_percent is "));
  }
}

TEST(ValidateTest, TwoModelsMayNotShareAName) {
  EXPECT_EQ(Wrong([](auto& o) {
              o.custom_models = {Mine("a"), Mine("b")};
            }),
            "");
  EXPECT_EQ(Wrong([](auto& o) {
              o.custom_models = {Mine("a"), Mine("b"), Mine("a")};
            }),
            "--model is given twice as 'a'; allowed: a name of its own for "
            "each model");
}

TEST(ValidateTest, SelectedModelsMustBeKnown) {
  RunOptions options;
  options.selected_models = {"tiny", "mine"};
  const absl::Status status = Validate(options);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(std::string(status.message()),
            "--models: unknown model 'mine'; allowed: tiny, small, medium, "
            "large, xl, 2.7B");
  options.custom_models = {Mine("mine")};
  EXPECT_EQ(Validate(options), absl::OkStatus());
  options.selected_models = {"yours"};
  EXPECT_THAT(std::string(Validate(options).message()),
              AllOf(HasSubstr("'yours'"), HasSubstr("2.7B, mine")));
}

// Two cases of one name could not be told apart.
TEST(ValidateTest, SelectedModelsMustDiffer) {
  RunOptions options;
  options.selected_models = {"tiny", "small", "tiny"};
  EXPECT_EQ(std::string(Validate(options).message()),
            "--models is 'tiny' twice; allowed: each model once");
}

TEST(SelectModelsTest, TheDefaultsThenEveryCustomModel) {
  RunOptions options;
  EXPECT_THAT(Selected(options, {"small", "tiny"}),
              ElementsAre("small", "tiny"));
  options.custom_models = {Mine("b"), Mine("a")};
  EXPECT_THAT(Selected(options, {"small"}), ElementsAre("small", "b", "a"));
  EXPECT_THAT(Selected(options, {}), ElementsAre("b", "a"));
}

TEST(SelectModelsTest, AChoiceReplacesDefaultsAndCustomModels) {
  RunOptions options;
  options.custom_models = {Mine("a"), Mine("b")};
  options.selected_models = {"b", "xl"};
  EXPECT_THAT(Selected(options, {"small"}), ElementsAre("b", "xl"));
}

TEST(SelectModelsTest, ModelsComeWithTheirSizes) {
  RunOptions options;
  options.custom_models = {Mine("a")};
  const std::vector<ModelConfig> models = SelectModels(options, {"tiny"});
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0].d_model, 128);
  EXPECT_EQ(models[1].d_model, 64);
  EXPECT_EQ(models[1].heads, 4);
}

TEST(SelectModelsTest, NoModelsForNoDefaults) {
  EXPECT_THAT(Selected(RunOptions(), {}), IsEmpty());
}

// Validate() is asked before, so this is an error in an experiment's defaults.
TEST(SelectModelsTest, AnUnknownModelIsNotLeftOutInSilence) {
  EXPECT_THROW(SelectModels(RunOptions(), {"huge"}), std::exception);
}

TEST(ChildFlagsTest, SayEverythingThatActsOnACase) {
  RunOptions options;
  options.suite = Suite::kPaper;
  options.device = "cpu";
  options.selected_models = {"tiny", "mine"};
  options.custom_models = {
      ParseModel("name=mine,d_model=8,d_ff=16,layers=1,heads=2,vocab=32")
          .value()};
  options.batch = 3;
  options.seq = 5;
  options.ranks = 4;
  options.threads = 2;
  options.seed = 7;
  options.warmup_calls = 4;
  options.sampling_seconds = 0.25;
  options.max_case_seconds = 9;
  options.peak_tflops = 1.5;
  options.rank_timeout_seconds = 3;
  options.injected_slowdown_percent = 30;
  options.trace = "t";
  options.memory_trace = "m";
  options.samples_out = "must not be written twice";
  EXPECT_THAT(
      ChildFlags(options),
      testing::ElementsAre(
          "--suite=paper", "--device=cpu", "--models=tiny,mine",
          "--model=name=mine,d_model=8,d_ff=16,layers=1,heads=2,vocab=32,"
          "attention=naive",
          "--batch=3", "--seq=5", "--ranks=4", "--threads=2", "--seed=7",
          "--warmup=4", "--benchmark_min_time=0.25", "--max_case_seconds=9",
          "--peak_tflops=1.5", "--rank_timeout_seconds=3",
          "--injected_slowdown_percent=30", "--trace=t", "--memory_trace=m"));
}

TEST(ChildFlagsTest, WhatWasNotGivenStaysOpen) {
  for (const std::string& flag : ChildFlags({})) {
    EXPECT_THAT(flag, testing::Not(testing::HasSubstr("batch")));
    EXPECT_THAT(flag, testing::Not(testing::HasSubstr("warmup")));
    EXPECT_THAT(flag, testing::Not(testing::HasSubstr("ranks")));
  }
}

}  // namespace
}  // namespace trainbench
