// SPDX-License-Identifier: MIT

#include "benchmarks/attention_scaling/attention_verification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <limits>
#include <optional>
#include <string>

namespace trainbench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Round {
  AttentionInputs inputs;
  at::Tensor output;
  AttentionGradients gradients;

  absl::Status Verify(double tolerance) const {
    return VerifyAttention(inputs, output, gradients, tolerance);
  }
};

Round Evaluate(int64_t seq, at::ScalarType dtype,
               std::optional<SdpaBackend> backend = std::nullopt) {
  at::manual_seed(1);
  Round round;
  round.inputs =
      RandomAttentionInputs(3, seq, 12, at::TensorOptions().dtype(dtype));
  round.output = AttentionForward(backend, round.inputs);
  round.gradients = AttentionBackward(round.inputs, round.output);
  return round;
}

TEST(VerifyAttentionTest, EveryVariantAgreesToTheLastDigitsOfEachType) {
  const std::optional<SdpaBackend> variants[] = {
      std::nullopt, SdpaBackend::kMath, SdpaBackend::kFlash};
  // One row, fewer than the 64 that are compared, just as many, and more.
  for (const int64_t seq : {1, 5, 64, 65, 200}) {
    for (const auto& [dtype, tolerance] :
         {std::pair(at::kDouble, 1e-13), std::pair(at::kFloat, 1e-5),
          std::pair(at::kBFloat16, 2e-2)}) {
      for (const auto variant : variants) {
        const absl::Status status =
            Evaluate(seq, dtype, variant).Verify(tolerance);
        EXPECT_TRUE(status.ok())
            << status << " seq " << seq << " " << dtype << " "
            << (variant ? SdpaBackendName(*variant) : "naive");
      }
    }
  }
}

TEST(VerifyAttentionTest, RefusesConstantInputs) {
  Round round;
  round.inputs = RandomAttentionInputs(3, 20, 12, at::TensorOptions());
  round.inputs.output_gradient.fill_(1);
  round.output = AttentionForward(std::nullopt, round.inputs);
  round.gradients = AttentionBackward(round.inputs, round.output);
  EXPECT_THAT(std::string(round.Verify(1e-4).message()),
              StartsWith("an input holds nothing but 1"));
}

TEST(VerifyAttentionTest, NamesTheTensorThatIsWrong) {
  const auto wrong = [](const auto& change) {
    Round round = Evaluate(100, at::kFloat);
    change(round);
    return std::string(round.Verify(1e-3).message());
  };
  const auto worse = [](at::Tensor& x) { x = x * 1.01; };
  EXPECT_THAT(wrong([&](Round& r) { worse(r.output); }),
              StartsWith("output differs"));
  EXPECT_THAT(wrong([&](Round& r) { worse(r.gradients.q); }),
              StartsWith("gradient of q"));
  EXPECT_THAT(wrong([&](Round& r) { worse(r.gradients.k); }),
              StartsWith("gradient of k"));
  EXPECT_THAT(wrong([&](Round& r) { worse(r.gradients.v); }),
              StartsWith("gradient of v"));
}

TEST(VerifyAttentionTest, FindsAMissingMaskAndNotANumber) {
  Round round = Evaluate(100, at::kFloat);
  const AttentionInputs& in = round.inputs;
  round.output = at::scaled_dot_product_attention(
                     in.q.unsqueeze(1), in.k.unsqueeze(1), in.v.unsqueeze(1))
                     .squeeze(1);
  EXPECT_FALSE(round.Verify(2e-2).ok());
  round.output =
      at::full_like(round.output, std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(std::string(round.Verify(2e-2).message()), HasSubstr("nan"));
}

}  // namespace
}  // namespace trainbench
