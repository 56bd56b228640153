// SPDX-License-Identifier: MIT

#include "fixtures/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainbench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(EditDistanceTest, CountsEditsOfOneCharacter) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("model", "model"), 0u);
  EXPECT_EQ(EditDistance("", "seq"), 3u);
  EXPECT_EQ(EditDistance("seq", ""), 3u);
  EXPECT_EQ(EditDistance("batch", "batches"), 2u);
  EXPECT_EQ(EditDistance("modes", "model"), 1u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
}

TEST(EditDistanceTest, CountsASwapOnce) {
  EXPECT_EQ(EditDistance("modle", "model"), 1u);
  EXPECT_EQ(EditDistance("ab", "ba"), 1u);
  EXPECT_EQ(EditDistance("modle", "models"), 2u);
}

TEST(EditDistanceTest, EditsNoCharacterTwice) {
  EXPECT_EQ(EditDistance("ca", "abc"), 3u);
}

TEST(EditDistanceTest, IsSymmetric) {
  const std::vector<std::string> words = {
      "", "a", "seq", "esq", "batch", "bathc", "mode", "model", "precision"};
  for (const std::string& a : words) {
    for (const std::string& b : words) {
      EXPECT_EQ(EditDistance(a, b), EditDistance(b, a)) << a << " " << b;
    }
  }
}

const std::vector<std::string> kModels = {"tiny",  "small", "medium",
                                          "large", "xl",    "2.7B"};

TEST(NearestTest, FindsTheWordThatWasMeant) {
  EXPECT_THAT(Nearest("smal", kModels, 3), ElementsAre("small"));
  EXPECT_THAT(Nearest("lagre", kModels, 3), ElementsAre("large"));
  EXPECT_THAT(Nearest("medium", kModels, 3), ElementsAre("medium"));
  EXPECT_THAT(Nearest("xk", kModels, 3), ElementsAre("xl"));
}

TEST(NearestTest, IgnoresCase) {
  EXPECT_THAT(Nearest("2.7b", kModels, 3), ElementsAre("2.7B"));
  EXPECT_THAT(Nearest("XL", kModels, 3), ElementsAre("xl"));
}

TEST(NearestTest, SuggestsNothingThatIsFarAway) {
  EXPECT_THAT(Nearest("gigantic", kModels, 3), IsEmpty());
  EXPECT_THAT(Nearest("", kModels, 3), IsEmpty());
  EXPECT_THAT(Nearest("q", kModels, 3), IsEmpty());
  EXPECT_THAT(Nearest("ab", {"cd", "c"}, 3), IsEmpty());
}

TEST(NearestTest, PutsTheNearestFirstAndKeepsTheOrderOfEquals) {
  const std::vector<std::string> names = {"models", "mode", "model", "node"};
  EXPECT_THAT(Nearest("model", names, 4),
              ElementsAre("model", "models", "mode"));
}

TEST(NearestTest, PrefersTheLengthOfTheWord) {
  EXPECT_THAT(Nearest("modle", {"mode", "model"}, 1), ElementsAre("model"));
}

TEST(NearestTest, ReturnsAtMostCount) {
  const std::vector<std::string> names = {"models", "mode", "model"};
  EXPECT_THAT(Nearest("modle", names, 1), ElementsAre("model"));
  EXPECT_THAT(Nearest("modle", names, 0), IsEmpty());
}

TEST(NearestTest, FindsAPartOfAName) {
  const std::vector<std::string> names = {"device_memory_gib", "seq", "batch"};
  EXPECT_THAT(Nearest("memory", names, 3), ElementsAre("device_memory_gib"));
  EXPECT_THAT(Nearest("sequence_length", names, 3), ElementsAre("seq"));
}

TEST(NearestTest, ComparesAsManyPartsAsTheWordHas) {
  const std::vector<std::string> names = {"attention_scaling/naive/bf16/seq:64",
                                          "all_reduce/gloo/ranks:2"};
  EXPECT_THAT(Nearest("atention_scalling", names, 3), ElementsAre(names[0]));
  EXPECT_THAT(Nearest("all_reduce/glo", names, 3), ElementsAre(names[1]));
  EXPECT_THAT(Nearest("bf16", names, 3), ElementsAre(names[0]));
}

}  // namespace
}  // namespace trainbench
