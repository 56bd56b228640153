// SPDX-License-Identifier: MIT

#include "model/accounting/alpha_beta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace trainbench {
namespace {

using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Sizes from 1 KiB to 1 GiB in factors of 4, each time off by up to `noise`.
std::vector<CallTime> Calls(const AlphaBeta& truth, double noise = 0) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> error(-noise, noise);
  std::vector<CallTime> calls;
  for (double bytes = 1 << 10; bytes <= 1 << 30; bytes *= 4) {
    calls.push_back({bytes, truth.Us(bytes) * (1 + error(random))});
  }
  return calls;
}

double SquaredError(const AlphaBeta& model,
                    const std::vector<CallTime>& calls) {
  double sum = 0;
  for (const CallTime& call : calls) {
    sum += std::pow((model.Us(call.bytes) - call.us) / call.us, 2);
  }
  return sum;
}

TEST(FitAlphaBetaTest, RecoversWhatItWasMadeFrom) {
  // NVLink, PCIe, and Gloo over loopback.
  for (const AlphaBeta truth :
       {AlphaBeta{30, 1 / 318e3}, {50, 1 / 20e3}, {180, 1 / 3e3}}) {
    const auto exact = FitAlphaBeta(Calls(truth));
    ASSERT_TRUE(exact.ok()) << exact.status();
    EXPECT_NEAR(exact->alpha_us, truth.alpha_us, 1e-9 * truth.alpha_us);
    EXPECT_NEAR(exact->us_per_byte, truth.us_per_byte,
                1e-9 * truth.us_per_byte);

    const auto noisy = FitAlphaBeta(Calls(truth, 0.05));
    ASSERT_TRUE(noisy.ok()) << noisy.status();
    EXPECT_NEAR(noisy->alpha_us, truth.alpha_us, 0.05 * truth.alpha_us);
    EXPECT_NEAR(noisy->us_per_byte, truth.us_per_byte,
                0.05 * truth.us_per_byte);
  }
}

TEST(FitAlphaBetaTest, LargeBuffersDoNotDecideAlpha) {
  // 10 % of the time at 1 GiB is 36 ms, a thousand times alpha.
  std::vector<CallTime> calls = Calls({30, 1 / 3e3});
  calls.back().us *= 1.1;
  const auto fit = FitAlphaBeta(calls);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_NEAR(fit->alpha_us, 30, 0.3);
}

TEST(FitAlphaBetaTest, NoNeighbourIsBetter) {
  // A step in the middle, as at a change of protocol; falling times; times that
  // grow faster than the bytes.
  const std::vector<std::vector<CallTime>> cases = {
      {{1e3, 20}, {1e4, 21}, {1e5, 90}, {1e6, 300}, {1e7, 4000}},
      {{1e3, 50}, {1e4, 40}, {1e5, 30}},
      {{1e3, 1}, {1e4, 20}, {1e5, 400}}};
  for (const std::vector<CallTime>& calls : cases) {
    const auto fit = FitAlphaBeta(calls);
    ASSERT_TRUE(fit.ok()) << fit.status();
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

TEST(FitAlphaBetaTest, NeitherParameterIsNegative) {
  // The unconstrained line through these points has a negative alpha.
  const auto steep = FitAlphaBeta({{1e3, 1}, {1e4, 20}, {1e5, 400}});
  ASSERT_TRUE(steep.ok()) << steep.status();
  EXPECT_EQ(steep->alpha_us, 0);
  EXPECT_GT(steep->us_per_byte, 0);
  // The line through these, which get faster, has a negative beta.
  const auto falling = FitAlphaBeta({{1e3, 50}, {1e4, 40}, {1e5, 30}});
  ASSERT_TRUE(falling.ok()) << falling.status();
  EXPECT_GT(falling->alpha_us, 30);
  EXPECT_LT(falling->alpha_us, 50);
  EXPECT_EQ(falling->us_per_byte, 0);
}

TEST(FitAlphaBetaTest, TwoSizesThatAlmostAgreeAreEnough) {
  const AlphaBeta truth = {30, 1e-3};
  const auto fit =
      FitAlphaBeta({{1e6, truth.Us(1e6)}, {1e6 + 1, truth.Us(1e6 + 1)}});
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_NEAR(fit->us_per_byte, 1e-3, 1e-8);
}

TEST(FitAlphaBetaTest, SaysWhatIsWrong) {
  const auto message = [](const std::vector<CallTime>& calls) {
    const auto fit = FitAlphaBeta(calls);
    EXPECT_EQ(fit.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(fit.status().message());
  };
  EXPECT_THAT(message({}), HasSubstr("0 calls have 0 distinct sizes"));
  EXPECT_THAT(message({{8, 1}}), HasSubstr("1 distinct"));
  EXPECT_THAT(message({{8, 1}, {8, 2}}), HasSubstr("2 calls have 1 distinct"));
  EXPECT_THAT(message({{0, 1}, {8, 2}}), HasSubstr("bytes is 0"));
  EXPECT_THAT(message({{4, 1}, {kInfinity, 2}}), HasSubstr("bytes is inf"));
  EXPECT_THAT(message({{4, -1}, {8, 2}}), HasSubstr("us is -1"));
  EXPECT_THAT(message({{4, 1}, {8, kNan}}), HasSubstr("us is nan"));
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
