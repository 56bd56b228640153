// SPDX-License-Identifier: MIT

#include "model/verification/inputs.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

namespace trainbench {
namespace {

absl::Status XHas(const std::string& what) {
  return absl::FailedPreconditionError("x has " + what);
}

TEST(FillVariedTest, FillsAllOfItWithNumbersThatRepeatAfterAPrime) {
  constexpr int64_t kPeriod = 1'000'003, kCount = 2 * kPeriod + 5;
  at::manual_seed(1);
  for (const at::ScalarType dtype : {at::kFloat, at::kLong}) {
    const at::Tensor numbers =
        FillVaried(at::full({kCount}, -1, at::TensorOptions(dtype)));
    EXPECT_TRUE(numbers.ge(0).all().item<bool>());
    const at::Tensor first = numbers.narrow(0, 0, kPeriod);
    EXPECT_TRUE(first.equal(numbers.narrow(0, kPeriod, kPeriod)));
    EXPECT_TRUE(first.narrow(0, 0, 5).equal(numbers.narrow(0, 2 * kPeriod, 5)));
    EXPECT_GT(std::get<0>(at::_unique(first)).numel(), kPeriod / 2);
  }
}

TEST(FillVariedTest, TakesFewNumbersAndNone) {
  EXPECT_EQ(FillVaried(at::empty({0})).numel(), 0);
  EXPECT_EQ(CheckVaried("x", FillVaried(at::zeros({16}))), absl::OkStatus());
}

TEST(CheckVariedTest, RandomNumbersOfAnyTypeAreFine) {
  at::manual_seed(1);
  for (const at::ScalarType dtype :
       {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    EXPECT_EQ(CheckVaried("x", at::randn({4, 8}, dtype)), absl::OkStatus());
  }
  EXPECT_EQ(CheckVaried("x", at::randint(100, {4, 8}, at::kLong)),
            absl::OkStatus());
}

TEST(CheckVariedTest, ConstantsAreNot) {
  EXPECT_EQ(
      CheckVaried("x", at::full({4, 8}, 7, at::kLong)),
      XHas("no value other than 7: constants compute faster than real data"));
  at::Tensor almost = at::zeros({4, 8});
  almost[3][7] = 1;
  EXPECT_EQ(CheckVaried("x", almost), absl::OkStatus());
}

TEST(CheckVariedTest, NorIsWhatIsNotFinite) {
  for (const double bad :
       {std::nan(""), HUGE_VAL, -std::numeric_limits<double>::infinity()}) {
    at::Tensor x = at::randn({4, 8});
    x[2][3] = bad;
    EXPECT_EQ(CheckVaried("x", x), XHas("values that are not finite"));
  }
}

TEST(CheckVariedTest, FewNumbersMayBeEqual) {
  EXPECT_EQ(CheckVaried("x", at::zeros({15})), absl::OkStatus());
  EXPECT_EQ(CheckVaried("x", at::zeros({0})), absl::OkStatus());
  EXPECT_EQ(
      CheckVaried("x", at::zeros({16})),
      XHas("no value other than 0: constants compute faster than real data"));
}

}  // namespace
}  // namespace trainbench
