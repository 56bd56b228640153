// SPDX-License-Identifier: MIT

#include "reports/live/stored_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"

namespace trainbench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

absl::StatusOr<StoredResult> Read(const std::string& text) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "stored_result.", ::getpid(), ".json");
  std::ofstream(path) << text;
  return ReadStoredResult(path);
}

constexpr char kResult[] = R"({
  "context": {"seed": "42", "num_cpus": 2},
  "benchmarks": [
    {"name": "a/b:1", "run_name": "a/b:1", "run_type": "iteration",
     "real_time": 2.5, "min_us": 2, "p50_us": 2.5, "max_us": 3,
     "label": "x=1"},
    {"name": "a/b:1_mean", "run_name": "a/b:1", "run_type": "aggregate",
     "real_time": 2.5}
  ],
  "skipped": [{"name": "big", "reason": "too big"}],
  "errors": [{"name": "bad", "reason": "wrong"}],
  "expectations": [{"text": "x"}],
  "profiles": [{"case": "a/b:1", "passes": 6}],
  "complete": false
})";

TEST(StoredResultTest, HasTheEntriesAndTheTextsOfTheContext) {
  const auto result = Read(kResult);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->context, AllOf(SizeIs(1), Contains(Pair("seed", "42"))));
  ASSERT_THAT(result->benchmarks, SizeIs(2));
  const StoredEntry& row = result->benchmarks[0];
  EXPECT_EQ(row.case_name, "a/b:1");
  EXPECT_TRUE(row.is_repetition());
  EXPECT_THAT(row.counters, Contains(Pair("p50_us", 2.5)));
  EXPECT_EQ(row.flaw, "");
  EXPECT_EQ(nlohmann::json::parse(row.json)["label"], "x=1");
  EXPECT_EQ(result->benchmarks[1].case_name, "a/b:1");
  EXPECT_FALSE(result->benchmarks[1].is_repetition());
  ASSERT_THAT(result->skipped, SizeIs(1));
  EXPECT_EQ(result->skipped[0].case_name, "big");
  ASSERT_THAT(result->errors, SizeIs(1));
  EXPECT_THAT(result->errors[0].json, HasSubstr("wrong"));
  EXPECT_THAT(result->tables, ElementsAre(Pair("profiles", SizeIs(1))));
  EXPECT_EQ(result->tables.at("profiles")[0].case_name, "a/b:1");
  EXPECT_THAT(result->tables.at("profiles")[0].json, HasSubstr("passes"));
}

TEST(StoredResultTest, WhatIsNoResultIsSaidInOneLine) {
  const std::string missing = "/nowhere/a.json";
  EXPECT_EQ(ReadStoredResult(missing).status().message(),
            "it cannot be read: No such file or directory");
  for (const char* text : {"", "{", "[]", "{\"context\": {}}",
                           R"({"context": {}, "benchmarks": [{}],
                               "skipped": [], "errors": []})"}) {
    const std::string message{Read(text).status().message()};
    EXPECT_THAT(message, AllOf(HasSubstr("it is no result of trainbench"),
                               Not(HasSubstr("\n"))));
  }
}

}  // namespace
}  // namespace trainbench
