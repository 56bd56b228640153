// SPDX-License-Identifier: MIT

#include "model/spec/enum_names.h"

#include <optional>
#include <stdexcept>
#include <string>

#include "tests/support/matchers.h"

namespace trainbench {
namespace {

enum class Hue { kRed, kGreen, kBlue };
constexpr EnumNames<Hue, 2> HueName{"red", "green"};

TEST(EnumNamesTest, NamesListsAndLooksUp) {
  EXPECT_EQ(HueName(Hue::kGreen), "green");
  EXPECT_EQ(HueName.Or(Hue::kGreen, "none"), "green");
  EXPECT_EQ(HueName.Or(std::nullopt, "none"), "none");
  EXPECT_THAT(HueName.values(), ElementsAre(Hue::kRed, Hue::kGreen));
  EXPECT_EQ(HueName.Joined(), "red, green");
  EXPECT_EQ(HueName.Parse("hue", "green").value(), Hue::kGreen);
  EXPECT_EQ(std::string(HueName.Parse("hue", "blue").status().message()),
            "hue is 'blue'; allowed: red, green");
}

TEST(EnumNamesTest, AValueWithoutANameIsAnError) {
  EXPECT_THROW(HueName(Hue::kBlue), std::out_of_range);
}

}  // namespace
}  // namespace trainbench
