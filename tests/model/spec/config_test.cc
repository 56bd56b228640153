// SPDX-License-Identifier: MIT

#include "model/spec/config.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/spec/named_models.h"
#include "tests/support/golden.h"

namespace trainbench {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 20;
constexpr int64_t kMaxVocab = int64_t{1} << 24;

ModelConfig Good() { return {"good", 24, 40, 2, 3, 37}; }

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

struct SizeField {
  const char* name;
  int64_t ModelConfig::*field;
  int64_t max;
  int64_t min = 1;
};

const std::vector<SizeField>& SizeFields() {
  static const auto* const kFields = new std::vector<SizeField>{
      {"d_model", &ModelConfig::d_model, kMaxSize},
      {"d_ff", &ModelConfig::d_ff, kMaxSize},
      {"layers", &ModelConfig::layers, kMaxSize},
      {"heads", &ModelConfig::heads, kMaxSize},
      {"vocab", &ModelConfig::vocab, kMaxVocab, 2},
  };
  return *kFields;
}

TEST(ValidateTest, AcceptsAGoodConfig) { EXPECT_TRUE(Validate(Good()).ok()); }

TEST(ValidateTest, NamesFieldValueAndRangeOfEachBadSize) {
  for (const SizeField& field : SizeFields()) {
    for (const int64_t value : {field.min - 1, int64_t{-7}, field.max + 1}) {
      ModelConfig config = Good();
      config.*field.field = value;
      const absl::Status status = Validate(config);
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
      EXPECT_EQ(Message(status), std::string(field.name) + " is " +
                                     std::to_string(value) +
                                     "; allowed: " + std::to_string(field.min) +
                                     " to " + std::to_string(field.max));
    }
  }
}

TEST(ValidateTest, AcceptsTheSmallestAndTheLargestSizes) {
  EXPECT_TRUE(Validate({"least", 2, 1, 1, 1, 2}).ok());
  EXPECT_TRUE(
      Validate({"most", kMaxSize, kMaxSize, kMaxSize, kMaxSize / 2, kMaxVocab})
          .ok());
}

TEST(ValidateTest, RejectsHeadsOfKeysThatDoNotDivideTheHeads) {
  ModelConfig config = {"m", 24, 40, 2, 6, 37};
  for (const int64_t kv_heads : {0, 1, 2, 3, 6}) {
    config.kv_heads = kv_heads;
    EXPECT_TRUE(Validate(config).ok()) << kv_heads;
    EXPECT_EQ(config.d_key_value(), kv_heads == 0 ? 24 : 4 * kv_heads);
  }
  for (const int64_t kv_heads : {4, 5, 12}) {
    config.kv_heads = kv_heads;
    EXPECT_EQ(Message(Validate(config)),
              "heads is 6 and kv_heads is " + std::to_string(kv_heads) +
                  "; allowed: kv_heads that divide heads");
  }
  config.kv_heads = -1;
  EXPECT_EQ(Message(Validate(config)), "kv_heads is -1; allowed: 0 to 1048576");
}

TEST(ValidateTest, PositionsThatAreLearnedNeedAContextAndNoEvenHeads) {
  ModelConfig config = Good();
  config.context = 7;
  EXPECT_EQ(Message(Validate(config)),
            "context is 7; allowed: 0, or any context with positions=learned");
  config.d_model = 21;
  config.positions = Positions::kLearned;
  EXPECT_TRUE(Validate(config).ok());
  config.context = 0;
  EXPECT_EQ(Message(Validate(config)), "context is 0; allowed: 1 to 1048576");
}

TEST(ValidateTest, OnlyALayerNormHasABias) {
  ModelConfig config = Good();
  config.biases = Biases::kNorms;
  EXPECT_EQ(
      Message(Validate(config)),
      "biases is 'norms'; allowed: none or all; with norm=layer also norms");
  config.norm = Normalization::kLayer;
  EXPECT_TRUE(Validate(config).ok());
}

TEST(SeqUnavailableTest, ASequenceIsNotLongerThanWhatIsLearned) {
  ModelConfig config = Good();
  EXPECT_EQ(SeqUnavailable(config, 1 << 20), "");
  config.positions = Positions::kLearned;
  config.context = 8;
  EXPECT_EQ(SeqUnavailable(config, 8), "");
  EXPECT_EQ(
      SeqUnavailable(config, 9),
      "seq is 9; allowed: at most 8, the number of learned positions of good");
}

TEST(ValidateShapeTest, NamesFieldValueAndRange) {
  EXPECT_TRUE(ValidateShape(1, 1).ok());
  EXPECT_TRUE(ValidateShape(kMaxSize, kMaxSize).ok());
  EXPECT_EQ(Message(ValidateShape(0, 1)), "batch is 0; allowed: 1 to 1048576");
  EXPECT_EQ(Message(ValidateShape(1, -1)), "seq is -1; allowed: 1 to 1048576");
  EXPECT_EQ(Message(ValidateShape(kMaxSize + 1, 1)),
            "batch is 1048577; allowed: 1 to 1048576");
  EXPECT_EQ(Message(ValidateShape(1, kMaxSize + 1)),
            "seq is 1048577; allowed: 1 to 1048576");
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
  const auto found = FindModel("xl", StandardModels());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->d_head(), 64);
  const auto missing = FindModel("Tiny", StandardModels());
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Message(missing.status()),
            "unknown model 'Tiny'; allowed: tiny, small, medium, large, xl, "
            "2.7B");
}

TEST(ParseModelTest, ReadsEveryFieldInAnyOrder) {
  const auto model = ParseModel(
      "attention=sdpa,vocab=32000,heads=8,layers=6,d_ff=2048,d_model=512,"
      "name=My.model_2-b");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->name, "My.model_2-b");
  EXPECT_EQ(model->d_model, 512);
  EXPECT_EQ(model->d_ff, 2048);
  EXPECT_EQ(model->layers, 6);
  EXPECT_EQ(model->heads, 8);
  EXPECT_EQ(model->vocab, 32000);
  EXPECT_EQ(model->attention, AttentionKind::kSdpa);
}

TEST(ParseModelTest, VocabAndAttentionHaveDefaults) {
  const auto model = ParseModel("name=m,d_model=4,d_ff=3,layers=1,heads=2");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->vocab, 10000);
  EXPECT_EQ(model->attention, AttentionKind::kNaive);
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
  EXPECT_EQ(ParseModel(sizes)->implementation, Implementation::kTextbook);
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

TEST(ParseModelTest, AcceptsANameOf64Characters) {
  const std::string name(64, 'x');
  const auto model =
      ParseModel("name=" + name + ",d_model=4,d_ff=3,layers=1,heads=2");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->name, name);
}

TEST(ParseModelTest, SaysWhatIsWrongAsTheGoldenShows) {
  const std::string sizes = ",d_model=24,d_ff=40,layers=2,heads=3";
  const std::string rest = ",d_ff=40,layers=2,heads=3";
  std::vector<std::string> texts = {"",
                                    sizes.substr(1),
                                    "name=m" + rest,
                                    "name=m,d_model=24,layers=2,heads=3",
                                    "name=m,d_model=24,d_ff=40,heads=3",
                                    "name=m,d_model=24,d_ff=40,layers=2",
                                    "name=m,d_model" + rest};
  for (const char* size : {"big", "2.5", "1=2", "9223372036854775808",
                           "2097152", "0", "25", "21"}) {
    texts.push_back(absl::StrCat("name=m,d_model=", size, rest));
  }
  for (const std::string& name :
       {std::string(), std::string("a/b"), std::string("a b"),
        std::string(65, 'x'), std::string("tiny"), std::string("gpt2")}) {
    texts.push_back(absl::StrCat("name=", name, sizes));
  }
  for (const char* more : {"",
                           "depth=3",
                           "Vocab=3",
                           "layers=2",
                           "name=m",
                           "kv_heads=2",
                           "kv_heads=all",
                           "tied_embeddings=2",
                           "pad_vocab=0",
                           "pad_vocab=x",
                           "mlp=silu",
                           "norm=x",
                           "biases=x",
                           "positions=x",
                           "positions=learned",
                           "attention=foo",
                           "implementation=own",
                           "checkpoint=",
                           "checkpoint=every",
                           "checkpoint=every_",
                           "checkpoint=every_0",
                           "checkpoint=every_-1",
                           "checkpoint=every_1048577",
                           "checkpoint=every_1.5",
                           "checkpoint=Attention",
                           "checkpoint=2"}) {
    texts.push_back(absl::StrCat("name=m", sizes, ",", more));
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
  const std::string text =
      "name=mine,d_model=96,d_ff=256,layers=3,heads=6,vocab=123,attention=sdpa";
  for (const std::string& whole :
       {text, text + ",implementation=fused", text + ",checkpoint=every_2",
        std::string("name=mine,d_model=96,d_ff=256,layers=3,heads=6,vocab=123,"
                    "tied_embeddings=true,attention=naive"),
        std::string("name=mine,d_model=96,d_ff=256,layers=3,heads=6,vocab=123,"
                    "mlp=relu2,norm=layer,biases=norms,positions=learned,"
                    "context=12,attention=naive"),
        std::string("name=mine,d_model=96,d_ff=256,layers=3,heads=6,kv_heads=2,"
                    "vocab=123,attention=own")}) {
    const auto model = ParseModel(whole);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(FormatModel(*model), whole);
  }
}

}  // namespace
}  // namespace trainbench
