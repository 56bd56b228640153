// SPDX-License-Identifier: MIT

#include "fixtures/flag_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "fixtures/our_flags.h"

namespace trainbench::flag_parser_test {

// Accepts even numbers only, and says so.
struct Even {
  int value = 0;
};

bool AbslParseFlag(absl::string_view text, Even* even, std::string* error) {
  if (absl::ParseFlag(text, &even->value, error) && even->value % 2 == 0) {
    return true;
  }
  *error = "allowed: an even number";
  return false;
}

std::string AbslUnparseFlag(Even even) { return absl::UnparseFlag(even.value); }

}  // namespace trainbench::flag_parser_test

ABSL_FLAG(int64_t, batch, 4, "Sequences in one step.");
ABSL_FLAG(double, memory_gib, 80, "Memory.");
ABSL_FLAG(bool, json, false, "Print JSON.");
ABSL_FLAG(bool, color, true, "Print colors.");
ABSL_FLAG(std::string, model, "",
          "A model of your own, in words that are so many that they do not fit "
          "in one line of the help.");
ABSL_FLAG(std::string, note, "", "A note.");
ABSL_FLAG(std::optional<int64_t>, seq, std::nullopt, "Tokens.");
ABSL_FLAG(trainbench::flag_parser_test::Even, heads, {2}, "Heads.");

namespace trainbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class FlagParserTest : public ::testing::Test {
 protected:
  // The message of the error; "ok: " and the positional arguments otherwise.
  static std::string Error(const std::vector<std::string>& args) {
    const auto result = ParseFlags(args, {"model"});
    if (result.ok()) return "ok: " + ::testing::PrintToString(*result);
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(result.status().message());
  }

  static std::vector<std::string> Positional(
      const std::vector<std::string>& args) {
    const auto result = ParseFlags(args, {"model"});
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : std::vector<std::string>{"failed"};
  }

 private:
  absl::FlagSaver saver_;  // restores every flag after a test
};

TEST_F(FlagParserTest, SetsNothingWithoutArguments) {
  EXPECT_THAT(Positional({}), IsEmpty());
  EXPECT_EQ(absl::GetFlag(FLAGS_batch), 4);
}

TEST_F(FlagParserTest, TakesAValueAfterEqualsOrAsTheNextArgument) {
  EXPECT_THAT(Positional({"--batch=8", "--memory_gib", "24"}), IsEmpty());
  EXPECT_EQ(absl::GetFlag(FLAGS_batch), 8);
  EXPECT_EQ(absl::GetFlag(FLAGS_memory_gib), 24);
}

TEST_F(FlagParserTest, TakesANegativeNumberAsTheNextArgument) {
  EXPECT_THAT(Positional({"--batch", "-3"}), IsEmpty());
  EXPECT_EQ(absl::GetFlag(FLAGS_batch), -3);
}

TEST_F(FlagParserTest, TakesOneDashForTwo) {
  EXPECT_THAT(Positional({"-batch=8", "-json"}), IsEmpty());
  EXPECT_EQ(absl::GetFlag(FLAGS_batch), 8);
  EXPECT_TRUE(absl::GetFlag(FLAGS_json));
}

TEST_F(FlagParserTest, KeepsEqualsSignsInTheValue) {
  EXPECT_THAT(Positional({"--note=name=mine,d_model=512"}), IsEmpty());
  EXPECT_EQ(absl::GetFlag(FLAGS_note), "name=mine,d_model=512");
}

TEST_F(FlagParserTest, TakesAnEmptyValue) {
  EXPECT_THAT(Positional({"--note="}), IsEmpty());
  EXPECT_EQ(absl::GetFlag(FLAGS_note), "");
  EXPECT_THAT(Positional({"--note", ""}), IsEmpty());
}

TEST_F(FlagParserTest, TurnsBooleansOnAndOff) {
  EXPECT_THAT(Positional({"--json", "--nocolor"}), IsEmpty());
  EXPECT_TRUE(absl::GetFlag(FLAGS_json));
  EXPECT_FALSE(absl::GetFlag(FLAGS_color));
  EXPECT_THAT(Positional({"--json=false", "--color=true"}), IsEmpty());
  EXPECT_FALSE(absl::GetFlag(FLAGS_json));
  EXPECT_TRUE(absl::GetFlag(FLAGS_color));
}

TEST_F(FlagParserTest, GivesABooleanNoNextArgument) {
  EXPECT_THAT(Positional({"--json", "false"}), ElementsAre("false"));
  EXPECT_TRUE(absl::GetFlag(FLAGS_json));
}

TEST_F(FlagParserTest, ReturnsPositionalArgumentsInOrder) {
  EXPECT_THAT(Positional({"a", "--batch", "8", "-", "b", "--", "--json", "--"}),
              ElementsAre("a", "-", "b", "--json", "--"));
  EXPECT_FALSE(absl::GetFlag(FLAGS_json));
}

TEST_F(FlagParserTest, JoinsTheValuesOfARepeatableFlag) {
  EXPECT_THAT(Positional({"--model=a", "--batch=2", "--model", "b"}),
              IsEmpty());
  EXPECT_EQ(absl::GetFlag(FLAGS_model), "a;b");
}

TEST_F(FlagParserTest, RejectsAnyOtherFlagGivenTwice) {
  EXPECT_EQ(Error({"--batch=1", "--batch=1"}),
            "flag '--batch' is given twice; allowed: once");
  EXPECT_EQ(Error({"--json", "--nojson"}),
            "flag '--json' is given twice; allowed: once");
}

TEST_F(FlagParserTest, NamesTheFlagThatWasMeant) {
  EXPECT_EQ(Error({"--modle=x"}),
            "unknown flag '--modle'; did you mean '--model'?");
  EXPECT_EQ(Error({"--memory-gib", "8"}),
            "unknown flag '--memory-gib'; did you mean '--memory_gib'?");
  EXPECT_EQ(Error({"--noclor"}),
            "unknown flag '--noclor'; did you mean '--color'?");
}

TEST_F(FlagParserTest, SuggestsNothingFarAway) {
  EXPECT_EQ(Error({"--xyzzy"}),
            "unknown flag '--xyzzy'; --help lists the flags");
  EXPECT_THAT(Error({"-1"}), HasSubstr("unknown flag '--1'"));
  EXPECT_THAT(Error({"--=3"}), HasSubstr("unknown flag '--'"));
}

TEST_F(FlagParserTest, RejectsABadValue) {
  for (const char* value : {"", "four", "1.5", "4x", "99999999999999999999"}) {
    EXPECT_EQ(Error({std::string("--batch=") + value}),
              std::string("flag '--batch' is '") + value +
                  "'; allowed: a whole number of 64 bits");
  }
  EXPECT_EQ(Error({"--memory_gib=much"}),
            "flag '--memory_gib' is 'much'; allowed: a number");
  EXPECT_EQ(Error({"--json=maybe"}),
            "flag '--json' is 'maybe'; allowed: true or false");
  EXPECT_EQ(absl::GetFlag(FLAGS_batch), 4);
}

TEST_F(FlagParserTest, KnowsOptionalNumbers) {
  EXPECT_EQ(absl::GetFlag(FLAGS_seq), std::nullopt);
  EXPECT_EQ(Error({"--seq=long"}),
            "flag '--seq' is 'long'; allowed: a whole number of 64 bits");
  EXPECT_THAT(Positional({"--seq=64"}), IsEmpty());
  EXPECT_EQ(absl::GetFlag(FLAGS_seq), 64);
}

TEST_F(FlagParserTest, PassesOnTheReasonOfAFlagsOwnParser) {
  EXPECT_EQ(Error({"--heads=3"}),
            "flag '--heads' is '3'; allowed: an even number");
  EXPECT_EQ(Error({"--heads='; 3"}),
            "flag '--heads' is ''; 3'; allowed: an even number");
}

TEST_F(FlagParserTest, RejectsAMissingValue) {
  EXPECT_EQ(Error({"--batch"}),
            "flag '--batch' has no value; allowed: --batch=VALUE");
  EXPECT_THAT(Error({"--note", "--json"}), HasSubstr("'--note' has no value"));
}

TEST_F(FlagParserTest, RejectsAValueOfANegatedBoolean) {
  EXPECT_EQ(Error({"--nojson=true"}),
            "flag '--nojson' is 'true'; allowed: no value");
}

TEST_F(FlagParserTest, NegatesOnlyBooleans) {
  EXPECT_THAT(Error({"--nobatch"}), HasSubstr("unknown flag '--nobatch'"));
}

TEST_F(FlagParserTest, HidesTheFlagsOfAbseil) {
  EXPECT_THAT(Error({"--flagfile=x"}), HasSubstr("unknown flag '--flagfile'"));
  EXPECT_THAT(FlagsHelp(), Not(HasSubstr("flagfile")));
}

TEST_F(FlagParserTest, ReportsTheFirstBadValue) {
  EXPECT_THAT(Error({"--memory_gib=x", "--batch=y"}), HasSubstr("memory_gib"));
  EXPECT_THAT(Error({"--batch=y", "--memory_gib=x"}), HasSubstr("batch"));
}

TEST(FlagsHelpTest, ListsFlagsSortedWithDefaults) {
  const std::string help = FlagsHelp();
  EXPECT_THAT(help, HasSubstr("  --batch (default: 4)\n"
                              "      Sequences in one step.\n"));
  EXPECT_THAT(help, HasSubstr("  --[no]json (default: false)\n"));
  EXPECT_THAT(help, HasSubstr("  --note\n"));
  EXPECT_LT(help.find("--batch"), help.find("--heads"));
  EXPECT_LT(help.find("--heads"), help.find("--[no]json"));
}

TEST(FlagsHelpTest, WrapsAt80Columns) {
  const std::string help = FlagsHelp();
  for (const absl::string_view line : absl::StrSplit(help, '\n')) {
    EXPECT_LE(line.size(), 80u) << line;
  }
  EXPECT_THAT(help, HasSubstr(" in one\n      line of the help.\n"));
}

}  // namespace
}  // namespace trainbench
