// SPDX-License-Identifier: MIT

#include "model/accounting/alpha_beta.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/matchers.h"

namespace trainbench {
namespace {

double SquaredError(const AlphaBeta& model,
                    const std::vector<CallTime>& calls) {
  double sum = 0;
  for (const CallTime& call : calls) {
    sum += std::pow((model.Us(call.bytes) - call.us) / call.us, 2);
  }
  return sum;
}

TEST(FitAlphaBetaTest, NoNeighborIsBetter) {
  // A step in the middle, as at a change of protocol; a last time that is 10 %
  // too long; falling times; times that grow faster than the bytes.
  const std::vector<std::vector<CallTime>> cases = {
      {{1e3, 20}, {1e4, 21}, {1e5, 90}, {1e6, 300}, {1e7, 4000}},
      {{1e3, 30.3}, {1e6, 363}, {1e9, 1.1 * 333e3}},
      {{1e3, 50}, {1e4, 40}, {1e5, 30}},
      {{1e3, 1}, {1e4, 20}, {1e5, 400}}};
  for (const std::vector<CallTime>& calls : cases) {
    const auto fit = FitAlphaBeta(calls);
    ASSERT_TRUE(fit);
    EXPECT_GE(fit->alpha_us, 0);
    EXPECT_GE(fit->us_per_byte, 0);
    const double least = SquaredError(*fit, calls);
    for (const double a : {-0.1, -1e-3, 1e-3, 0.1}) {
      for (const double b : {-0.1, -1e-3, 0.0, 1e-3, 0.1}) {
        // Moves each coefficient, also from 0, by a share of a measured value.
        const AlphaBeta near = {
            std::max(0.0, fit->alpha_us + a * calls.front().us),
            std::max(0.0, fit->us_per_byte +
                              b * calls.back().us / calls.back().bytes)};
        EXPECT_GE(SquaredError(near, calls), least) << a << " " << b;
      }
    }
  }
}

TEST(FitAlphaBetaTest, TwoSizesThatAlmostAgreeAreEnough) {
  const AlphaBeta truth = {30, 1e-3};
  const auto fit =
      FitAlphaBeta({{1e6, truth.Us(1e6)}, {1e6 + 1, truth.Us(1e6 + 1)}});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->us_per_byte, 1e-3, 1e-8);
}

TEST(FitAlphaBetaTest, NeedsTwoSizesAndPositiveNumbers) {
  const std::vector<std::vector<CallTime>> cases = {{},
                                                    {{8, 1}, {8, 2}},
                                                    {{0, 1}, {8, 2}},
                                                    {{4, 1}, {HUGE_VAL, 2}},
                                                    {{4, -1}, {8, 2}},
                                                    {{4, 1}, {8, NAN}}};
  for (const auto& calls : cases) EXPECT_FALSE(FitAlphaBeta(calls));
}

TEST(AlphaBetaTest, LargestErrorIsRelative) {
  const AlphaBeta model = {10, 0.5};
  EXPECT_EQ(LargestRelativeError(model, {}), 0);
  // The predictions are 12 and 60.
  EXPECT_DOUBLE_EQ(LargestRelativeError(model, {{4, 16}, {100, 50}}), 0.25);
  EXPECT_DOUBLE_EQ(LargestRelativeError(model, {{4, 10}, {100, 60}}), 0.2);
}

}  // namespace
}  // namespace trainbench
