// SPDX-License-Identifier: MIT

#include "fixtures/google_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Flags = std::vector<std::string>;

// Runs without any of the variables and puts the user's back afterwards.
class GoogleFlagsTest : public testing::Test {
 protected:
  GoogleFlagsTest() {
    for (const char* name :
         {"BENCHMARK_FILTER", "BENCHMARK_OUT", "BENCHMARK_OUT_FORMAT",
          "BENCHMARK_FORMAT", "BENCHMARK_LIST_TESTS", "BENCHMARK_REPETITIONS",
          "BENCHMARK_MIN_TIME", "BENCHMARK_MIN_WARMUP_TIME"}) {
      const char* value = std::getenv(name);
      saved_[name] =
          value == nullptr ? std::nullopt : std::optional<std::string>(value);
      unsetenv(name);
    }
  }
  ~GoogleFlagsTest() override {
    for (const auto& [name, value] : saved_) {
      if (value) {
        setenv(name.c_str(), value->c_str(), 1);
      } else {
        unsetenv(name.c_str());
      }
    }
  }

  void SetVariable(const std::string& name, const std::string& value) {
    ASSERT_TRUE(saved_.contains(name)) << "not restored after the test";
    setenv(name.c_str(), value.c_str(), 1);
  }

  static GoogleFlags Parse(const Flags& args) {
    const auto flags = ParseGoogleFlags(args);
    EXPECT_TRUE(flags.ok()) << flags.status();
    return flags.value_or(GoogleFlags());
  }

  static std::string Error(const Flags& args) {
    const absl::Status status = ParseGoogleFlags(args).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  }

 private:
  std::map<std::string, std::optional<std::string>> saved_;
};

TEST_F(GoogleFlagsTest, WithoutFlagsEveryCaseRunsOnceInOurTable) {
  const GoogleFlags flags = Parse({});
  EXPECT_EQ(flags.filter, ".");
  EXPECT_EQ(flags.out, "");
  EXPECT_EQ(flags.format, "");
  EXPECT_FALSE(flags.list);
  EXPECT_EQ(flags.repetitions, 1);
  EXPECT_FALSE(flags.sampling_seconds.has_value());
  EXPECT_THAT(flags.rest, IsEmpty());
}

TEST_F(GoogleFlagsTest, Filter) {
  EXPECT_EQ(Parse({"--benchmark_filter=a=b/.*:1"}).filter, "a=b/.*:1");
  EXPECT_EQ(Parse({"--benchmark_filter=-slow"}).filter, "-slow");
  EXPECT_EQ(Parse({"--benchmark_filter="}).filter, ".");
  EXPECT_THAT(Parse({"--benchmark_filter=x"}).rest, IsEmpty());
  EXPECT_EQ(Parse({"--benchmark_filter=x", "--benchmark_filter=y"}).filter,
            "y");
}

TEST_F(GoogleFlagsTest, TheWordAllMeansEveryCase) {
  EXPECT_EQ(Parse({"--benchmark_filter=all"}).filter, ".");
}

TEST_F(GoogleFlagsTest, OnlyABooleanMayLackItsValue) {
  EXPECT_EQ(Error({"--benchmark_out"}),
            "--benchmark_out has no value; allowed: --benchmark_out=<value>");
  EXPECT_THAT(Error({"--benchmark_filter"}), HasSubstr("has no value"));
  EXPECT_TRUE(Parse({"--benchmark_list_tests"}).list);
}

TEST_F(GoogleFlagsTest, MinTimeWithAndWithoutItsUnit) {
  EXPECT_EQ(Parse({"--benchmark_min_time=0.5"}).sampling_seconds, 0.5);
  EXPECT_EQ(Parse({"--benchmark_min_time=0.5s"}).sampling_seconds, 0.5);
  EXPECT_EQ(Parse({"--benchmark_min_time=0"}).sampling_seconds, 0.0);
  // Google Benchmark 1.7.1 would refuse "0.5s", and needs neither.
  EXPECT_THAT(Parse({"--benchmark_min_time=0.5s"}).rest, IsEmpty());
}

TEST_F(GoogleFlagsTest, BadMinTime) {
  EXPECT_EQ(Error({"--benchmark_min_time=5x"}),
            "--benchmark_min_time is '5x'; allowed: seconds to sample each "
            "case, e.g. 0.5");
  for (const std::string bad : {"", "s", "-1", "nan", "1ms", "0.5ss"}) {
    EXPECT_THAT(Error({"--benchmark_min_time=" + bad}),
                HasSubstr("--benchmark_min_time is '" + bad + "'"));
  }
  EXPECT_THAT(Error({"--benchmark_min_time"}),
              HasSubstr("--benchmark_min_time has no value"));
}

TEST_F(GoogleFlagsTest, RepetitionsAreReadAndPassedOn) {
  const GoogleFlags flags = Parse({"--benchmark_repetitions=3"});
  EXPECT_EQ(flags.repetitions, 3);
  EXPECT_THAT(flags.rest, ElementsAre("--benchmark_repetitions=3"));
}

TEST_F(GoogleFlagsTest, BadRepetitions) {
  for (const std::string bad : {"0", "-1", "2.5", "many", ""}) {
    EXPECT_EQ(Error({"--benchmark_repetitions=" + bad}),
              "--benchmark_repetitions is '" + bad +
                  "'; allowed: a whole number from 1");
  }
}

TEST_F(GoogleFlagsTest, FormatsAreReadAndPassedOn) {
  for (const std::string format : {"console", "json", "csv"}) {
    const GoogleFlags flags = Parse({"--benchmark_format=" + format});
    EXPECT_EQ(flags.format, format);
    EXPECT_THAT(flags.rest, ElementsAre("--benchmark_format=" + format));
  }
}

TEST_F(GoogleFlagsTest, BadFormats) {
  EXPECT_EQ(Error({"--benchmark_format=xml"}),
            "--benchmark_format is 'xml'; allowed: console, json, csv");
  for (const std::string bad : {"JSON", "csv", "console"}) {
    EXPECT_EQ(Error({"--benchmark_out_format=" + bad}),
              "--benchmark_out_format is '" + bad +
                  "'; allowed: json (--benchmark_format prints the others)");
  }
}

TEST_F(GoogleFlagsTest, TheFileIsOurs) {
  GoogleFlags flags = Parse({"--benchmark_out=a.json"});
  EXPECT_EQ(flags.out, "a.json");
  EXPECT_THAT(flags.rest, ElementsAre("--benchmark_out=/dev/null"));

  flags = Parse({"--benchmark_out=a", "--benchmark_out_format=json"});
  EXPECT_EQ(flags.out, "a");
  EXPECT_THAT(flags.rest, ElementsAre("--benchmark_out_format=json",
                                      "--benchmark_out=/dev/null"));
}

TEST_F(GoogleFlagsTest, ListTests) {
  for (const char* yes :
       {"--benchmark_list_tests", "--benchmark_list_tests=true",
        "--benchmark_list_tests=1", "--benchmark_list_tests=yes"}) {
    EXPECT_TRUE(Parse({yes}).list) << yes;
  }
  EXPECT_FALSE(Parse({"--benchmark_list_tests=false"}).list);
  EXPECT_EQ(Error({"--benchmark_list_tests=maybe"}),
            "--benchmark_list_tests is 'maybe'; allowed: true, false");
}

TEST_F(GoogleFlagsTest, MinWarmupTimeIsRefusedWithTheFlagThatDoesIt) {
  const std::string expected =
      "--benchmark_min_warmup_time has no effect here; allowed: "
      "--warmup=auto or --warmup=<calls>";
  EXPECT_EQ(Error({"--benchmark_min_warmup_time=1"}), expected);
  SetVariable("BENCHMARK_MIN_WARMUP_TIME", "1");
  EXPECT_EQ(Error({}), expected);
}

TEST_F(GoogleFlagsTest, ForeignFlagsStayInOrder) {
  const GoogleFlags flags =
      Parse({"--suite=smoke", "--benchmark_filter=x", "--seq", "64",
             "--benchmark_color=false", "-v", "--benchmark_filters=y",
             "benchmark_filter=z", "--"});
  EXPECT_EQ(flags.filter, "x");
  EXPECT_THAT(
      flags.rest,
      ElementsAre("--suite=smoke", "--seq", "64", "--benchmark_color=false",
                  "-v", "--benchmark_filters=y", "benchmark_filter=z", "--"));
}

TEST_F(GoogleFlagsTest, VariablesStandInForFlags) {
  SetVariable("BENCHMARK_FILTER", "env");
  SetVariable("BENCHMARK_OUT", "env.json");
  SetVariable("BENCHMARK_OUT_FORMAT", "json");
  SetVariable("BENCHMARK_FORMAT", "csv");
  SetVariable("BENCHMARK_LIST_TESTS", "1");
  SetVariable("BENCHMARK_REPETITIONS", "4");
  SetVariable("BENCHMARK_MIN_TIME", "2s");
  const GoogleFlags flags = Parse({});
  EXPECT_EQ(flags.filter, "env");
  EXPECT_EQ(flags.out, "env.json");
  EXPECT_EQ(flags.format, "csv");
  EXPECT_TRUE(flags.list);
  EXPECT_EQ(flags.repetitions, 4);
  EXPECT_EQ(flags.sampling_seconds, 2);
}

TEST_F(GoogleFlagsTest, FlagsWinOverVariables) {
  SetVariable("BENCHMARK_FILTER", "env");
  SetVariable("BENCHMARK_OUT", "env.json");
  SetVariable("BENCHMARK_FORMAT", "csv");
  SetVariable("BENCHMARK_LIST_TESTS", "1");
  SetVariable("BENCHMARK_REPETITIONS", "4");
  SetVariable("BENCHMARK_MIN_TIME", "2");
  const GoogleFlags flags =
      Parse({"--benchmark_filter=flag", "--benchmark_out=flag.json",
             "--benchmark_format=console", "--benchmark_list_tests=false",
             "--benchmark_repetitions=2", "--benchmark_min_time=1"});
  EXPECT_EQ(flags.filter, "flag");
  EXPECT_EQ(flags.out, "flag.json");
  EXPECT_EQ(flags.format, "console");
  EXPECT_FALSE(flags.list);
  EXPECT_EQ(flags.repetitions, 2);
  EXPECT_EQ(flags.sampling_seconds, 1);
  // Google Benchmark reads the variables too: it must be told otherwise.
  EXPECT_THAT(flags.rest, testing::Contains("--benchmark_list_tests=false"));
}

TEST_F(GoogleFlagsTest, AnEmptyFlagTakesTheVariablesFileAway) {
  SetVariable("BENCHMARK_OUT", "env.json");
  const GoogleFlags flags = Parse({"--benchmark_out="});
  EXPECT_EQ(flags.out, "");
  EXPECT_THAT(flags.rest, ElementsAre("--benchmark_out="));
}

TEST_F(GoogleFlagsTest, ABadVariableIsNamedAsItsFlag) {
  SetVariable("BENCHMARK_REPETITIONS", "often");
  EXPECT_THAT(Error({}), HasSubstr("--benchmark_repetitions is 'often'"));
}

}  // namespace
}  // namespace trainbench
