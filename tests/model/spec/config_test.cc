// SPDX-License-Identifier: MIT

#include "model/spec/config.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/spec/named_models.h"
#include "tests/support/golden.h"

namespace trainbench {
namespace {

TEST(SeqUnavailableTest, ASequenceIsNotLongerThanWhatIsLearned) {
  ModelConfig config = {"good", 24, 40, 2, 3, 37};
  EXPECT_EQ(SeqUnavailable(config, 1 << 20), "");
  config.positions = Positions::kLearned;
  config.context = 8;
  EXPECT_EQ(SeqUnavailable(config, 8), "");
  EXPECT_EQ(
      SeqUnavailable(config, 9),
      "seq is 9; allowed: at most 8, the number of learned positions of good");
}

TEST(ImplementationUnavailableTest, OnlyOurNormOnAGpuLimitsTheWidth) {
  ModelConfig config = {"wide", 8193, 40, 2, 3, 37};
  config.implementation = Implementation::kFused;
  EXPECT_EQ(ImplementationUnavailable(config, DeviceKind::kCuda),
            "on a GPU the fused implementation supports norms of at most 8192 "
            "columns; d_model is 8193; use textbook or library");
  EXPECT_EQ(ImplementationUnavailable(config, DeviceKind::kCpu), "");
  const auto unavailable_with = [&](auto field, auto value) {
    ModelConfig other = config;
    other.*field = value;
    return ImplementationUnavailable(other, DeviceKind::kCuda);
  };
  EXPECT_EQ(unavailable_with(&ModelConfig::d_model, 8192), "");
  EXPECT_EQ(unavailable_with(&ModelConfig::norm, Normalization::kLayer), "");
  EXPECT_EQ(
      unavailable_with(&ModelConfig::implementation, Implementation::kLibrary),
      "");
}

// The standard models come first.
TEST(NamedModelsTest, AreThoseOfTheGolden) {
  std::string printed = "standard: " + ModelNames(StandardModels()) + "\n";
  for (const ModelConfig& model : NamedModels()) {
    EXPECT_TRUE(Validate(model).ok()) << model.name;
    EXPECT_EQ(FindModel(model.name, NamedModels())->name, model.name);
    absl::StrAppend(&printed, FormatModel(model), "\n");
  }
  ExpectGolden("models.txt", printed);
}

TEST(FindModelTest, FindsByNameAndListsTheNamesThereAre) {
  EXPECT_EQ(FindModel("xl", StandardModels()).value().d_head(), 64);
  const auto missing = FindModel("Tiny", StandardModels());
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(missing.status().message(),
            "unknown model 'Tiny'; allowed: tiny, small, medium, large, xl, "
            "2.7B");
}

TEST(ParseModelTest, ReadsEveryFieldInAnyOrder) {
  const char* const text =
      "attention=sdpa,vocab=32000,heads=8,layers=6,d_ff=2048,d_model=512,"
      "name=My.model_2-b";
  EXPECT_EQ(ParseModel(text).value(),
            (ModelConfig{"My.model_2-b", 512, 2048, 6, 8, 32000,
                         AttentionKind::kSdpa}));
}

TEST(ParseModelTest, AttentionFollowsTheImplementationUnlessItIsGiven) {
  const std::string sizes = "name=m,d_model=4,d_ff=3,layers=1,heads=2";
  const auto attention = [&](const std::string& text) {
    return ParseModel(sizes + text)->attention;
  };
  EXPECT_EQ(attention(",implementation=textbook"), AttentionKind::kNaive);
  EXPECT_EQ(attention(",implementation=library"), AttentionKind::kSdpa);
  EXPECT_EQ(attention(",implementation=fused"), AttentionKind::kOwn);
  EXPECT_EQ(attention(",attention=naive,implementation=fused"),
            AttentionKind::kNaive);
  EXPECT_EQ(attention(""), AttentionKind::kNaive);
  EXPECT_EQ(ParseModel(sizes)->implementation, Implementation::kTextbook);
  EXPECT_EQ(ParseModel(sizes)->vocab, 10000);
}

TEST(ParseModelTest, AsManyHeadsOfKeysAsOfQueriesIsTheDefault) {
  const std::string sizes = "name=m,d_model=16,d_ff=3,layers=1,heads=4";
  EXPECT_EQ(ParseModel(sizes + ",kv_heads=2")->kv_heads, 2);
  EXPECT_EQ(ParseModel("kv_heads=4," + sizes), ParseModel(sizes));
  EXPECT_EQ(ParseModel(sizes + ",kv_heads=0"), ParseModel(sizes));
}

TEST(ParseModelTest, AVocabularyIsPaddedForRanks) {
  const std::string sizes = "name=m,d_model=16,d_ff=3,layers=1,heads=4";
  EXPECT_EQ(ParseModel(sizes + ",pad_vocab=128,vocab=50257")->vocab, 50304);
  EXPECT_EQ(ParseModel(sizes + ",vocab=50304,pad_vocab=128")->vocab, 50304);
}

// A model's text with another value of a key, or without the key.
std::string TextWith(const std::string& key,
                     const std::optional<std::string>& value) {
  std::vector<std::string> fields = {"name=m", "d_model=24", "d_ff=40",
                                     "layers=2", "heads=3"};
  std::erase_if(fields, [&](const std::string& field) {
    return absl::StartsWith(field, key + "=");
  });
  if (value) fields.push_back(absl::StrCat(key, "=", *value));
  return absl::StrJoin(fields, ",");
}

TEST(ParseModelTest, SaysWhatIsWrongAsTheGoldenShows) {
  std::vector<std::string> texts = {
      "",
      "d_model,d_ff=40",
      TextWith("layers", "2,"),
      TextWith("layers", "2,layers=2"),
      TextWith("layers", "2,name=m"),
      TextWith("vocab", "9223372036854775807,pad_vocab=1000")};
  for (const char* key : {"name", "d_model", "d_ff", "layers", "heads"}) {
    texts.push_back(TextWith(key, std::nullopt));
  }
  const std::vector<std::pair<std::string, std::vector<std::string>>> wrong = {
      {"name", {"", "a/b", "a b", std::string(65, 'x'), "tiny", "gpt2"}},
      {"d_model",
       {"big", "2.5", "1=2", "9223372036854775808", "1048577", "0", "-7", "25",
        "21"}},
      {"d_ff", {"0", "1048577"}},
      {"layers", {"0", "1048577"}},
      {"heads", {"0", "1048577"}},
      {"vocab", {"1", "16777217"}},
      {"kv_heads", {"-1", "1048577", "2", "6", "all"}},
      {"depth", {"3"}},
      {"Vocab", {"3"}},
      {"tied_embeddings", {"2"}},
      {"pad_vocab", {"0", "x"}},
      {"mlp", {"silu"}},
      {"norm", {"x"}},
      {"biases", {"x", "norms"}},
      {"positions", {"x", "learned", "learned,context=1048577"}},
      {"context", {"7"}},
      {"attention", {"foo"}},
      {"implementation", {"own"}},
      {"checkpoint",
       {"", "every", "every_", "every_0", "every_-1", "every_1048577",
        "every_1.5", "Attention", "2"}}};
  for (const auto& [key, values] : wrong) {
    for (const std::string& value : values) {
      texts.push_back(TextWith(key, value));
    }
  }
  std::string printed;
  for (const std::string& text : texts) {
    const absl::Status status = ParseModel(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    absl::StrAppend(&printed, text, "\n    ", status.message(), "\n");
  }
  ExpectGolden("model_errors.txt", printed);
}

TEST(FormatModelTest, IsReadBack) {
  const std::string sizes =
      "name=mine,d_model=96,d_ff=256,layers=3,heads=6,vocab=123";
  for (const std::string& text :
       {sizes + ",attention=sdpa,implementation=fused",
        sizes + ",attention=sdpa,checkpoint=every_2",
        sizes + ",tied_embeddings=true,attention=naive",
        sizes + ",mlp=relu2,norm=layer,biases=norms,positions=learned,"
                "context=12,attention=naive",
        std::string("name=mine,d_model=96,d_ff=256,layers=3,heads=6,kv_heads=2,"
                    "vocab=123,attention=own"),
        // Learned positions do not need even heads.
        std::string("name=odd,d_model=21,d_ff=1,layers=1,heads=3,vocab=2,"
                    "positions=learned,context=1048576,attention=naive"),
        std::string("name=least,d_model=2,d_ff=1,layers=1,heads=1,vocab=2,"
                    "attention=naive"),
        "name=My.model_2-" + std::string(53, 'x') +
            ",d_model=1048576,d_ff=1048576,layers=1048576,heads=524288,"
            "vocab=16777216,attention=naive"}) {
    EXPECT_EQ(FormatModel(ParseModel(text).value()), text);
  }
}

}  // namespace
}  // namespace trainbench
