// SPDX-License-Identifier: MIT

#include "model/ops/accumulation.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <map>
#include <string>

#include "absl/strings/str_format.h"

namespace trainbench {
namespace {

at::Tensor Term(const Accumulation& which) { return MakeTerm(which, at::kCPU); }

TEST(AccumulationTest, GivesThePublishedSums) {
  // CS336 assignment 2, mixed_precision_accumulation, printed as there. The
  // last: once the sum is 4, a term is less than half of the spacing of 2^-5.
  const std::map<std::string, std::string> published = {
      {"fp32_plus_fp32", "10.0001"},
      {"fp16_plus_fp16", "9.9531"},
      {"fp32_plus_fp16", "10.0021"},
      {"fp32_plus_fp32_of_fp16", "10.0021"},
      {"bf16_plus_bf16", "4.0000"}};
  ASSERT_EQ(published.size(), kAccumulations.size());
  for (const Accumulation& which : kAccumulations) {
    const at::Tensor sum = Accumulate(which, Term(which));
    EXPECT_EQ(absl::StrFormat("%.4f", sum.item<double>()),
              published.at(which.name))
        << which.name;
    EXPECT_EQ(sum.scalar_type(), which.sum) << which.name;
  }
}

TEST(AccumulationTest, EqualsTheSimulationBitForBit) {
  for (const Accumulation& which : kAccumulations) {
    EXPECT_EQ(Accumulate(which, Term(which)).item<double>(),
              SimulatedSum(which))
        << which.name;
  }
}

TEST(AccumulationTest, ASumOneStepAwayIsReported) {
  const Accumulation& fp32 = kAccumulations[0];
  const auto right = static_cast<float>(SimulatedSum(fp32));
  EXPECT_TRUE(VerifySum(fp32, right).ok());
  const absl::Status wrong = VerifySum(fp32, std::nextafter(right, 11.0F));
  EXPECT_EQ(wrong.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(wrong.message(),
            "the sum is 10.0001345; rounded step by step it is 10.0001335");
}

TEST(AccumulationTest, FollowsCompiledFp32Arithmetic) {
  float sum = 0;
  for (int i = 0; i < kTerms; ++i) sum += static_cast<float>(kTerm);
  EXPECT_EQ(SimulatedSum(kAccumulations[0]), sum);
}

TEST(AccumulationTest, TheTermIsLeftAsItWas) {
  for (const Accumulation& which : kAccumulations) {
    const at::Tensor term = Term(which);
    Accumulate(which, term);
    EXPECT_TRUE(term.equal(Term(which))) << which.name;
  }
}

}  // namespace
}  // namespace trainbench
