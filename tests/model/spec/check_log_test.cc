// SPDX-License-Identifier: MIT

#include "model/spec/check_log.h"

#include <cmath>
#include <stdexcept>

#include "tests/support/matchers.h"

namespace trainbench {
namespace {

TEST(CheckErrorTest, AllowsALimitAndNoNan) {
  EXPECT_EQ(CheckError("logits", 0.1, 0.1), absl::OkStatus());
  EXPECT_EQ(CheckError("logits", 0.12, 0.1, "in row 3"),
            absl::FailedPreconditionError("logits_error 0.12 > 0.1 in row 3"));
  EXPECT_FALSE(CheckError("logits", std::nan(""), 0.1).ok());
}

TEST(CheckLogTest, KeepsTheLargestErrorsOfAllChecks) {
  CheckLog log;
  EXPECT_EQ(log.Run([] {
    AddToCheckLog("weights", "unmoved");
    CheckError("logits", 2, 9).IgnoreError();
    return CheckError("loss", 0.5, 9);
  }),
            absl::OkStatus());
  EXPECT_EQ(log.Run([] { return CheckError("logits", 1, 0.1); }),
            absl::FailedPreconditionError("logits_error 1 > 0.1"));
  EXPECT_THAT(log.errors(),
              ElementsAre(Pair("logits_error", 2), Pair("loss_error", 0.5)));
  EXPECT_THAT(log.words(), ElementsAre(Pair("weights", "unmoved")));
  log.Run([] { return CheckError("logits", std::nan(""), 1); }).IgnoreError();
  log.Run([] { return CheckError("logits", 7, 1); }).IgnoreError();
  EXPECT_TRUE(std::isnan(log.errors().at("logits_error")));
}

TEST(CheckLogTest, ACheckThatGoesOnFindsAllThatIsWrong) {
  CheckLog log(/*goes_on=*/true);
  const auto check = [] {
    for (const double error : {0.2, 0.3, 0.25}) {
      const absl::Status status = CheckError("logits", error, 0.1);
      if (!status.ok()) return status;
    }
    absl::Status status = CheckError("gradient", 5, 1);
    if (status.ok()) status = absl::DataLossError("one token alone");
    return status;
  };
  EXPECT_EQ(log.Run(check).message(),
            "gradient_error 5 > 1 + logits_error 0.3 > 0.1 + one token alone");
  EXPECT_EQ(log.Run([] { return absl::OkStatus(); }), absl::OkStatus())
      << "of this check, not of the one before";
}

TEST(CheckLogTest, HearsNothingOutsideOfItsChecks) {
  CheckLog log, other;
  EXPECT_THROW(log.Run([]() -> absl::Status { throw std::runtime_error("no"); })
                   .IgnoreError(),
               std::runtime_error);
  CheckError("logits", 0.2, 0.1).IgnoreError();
  log.Run([&] {
       other.Run([] { return CheckError("loss", 3, 1); }).IgnoreError();
       return CheckError("gradient", 0, 1);
     })
      .IgnoreError();
  EXPECT_THAT(log.errors(), ElementsAre(Pair("gradient_error", 0)));
  EXPECT_THAT(other.errors(), ElementsAre(Pair("loss_error", 3)));
  EXPECT_THAT(log.words(), IsEmpty());
}

}  // namespace
}  // namespace trainbench
