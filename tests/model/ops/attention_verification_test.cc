// SPDX-License-Identifier: MIT

#include "model/ops/attention_verification.h"

#include <torch/types.h>

#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"

namespace trainbench {
namespace {

struct Round {
  AttentionInputs inputs;
  at::Tensor output;
  AttentionGradients gradients;

  absl::Status Verify(double tolerance) const {
    return VerifyAttention(inputs, output, gradients, tolerance);
  }
};

Round Evaluate(int64_t seq, at::ScalarType dtype,
               AttentionKind kind = AttentionKind::kNaive) {
  at::manual_seed(1);
  Round round;
  round.inputs =
      RandomAttentionInputs(3, seq, 12, at::TensorOptions().dtype(dtype));
  round.output = AttentionForward(kind, round.inputs);
  round.gradients = AttentionBackward(round.inputs, round.output);
  return round;
}

TEST(VerifyAttentionTest, EveryVariantAgreesToTheLastDigitsOfEachType) {
  // One row, fewer than the 64 compared rows, exactly 64, and more.
  for (const int64_t seq : {1, 5, 64, 65, 200}) {
    for (const auto& [dtype, tolerance] :
         {std::pair(at::kDouble, 1e-13), std::pair(at::kFloat, 1e-5),
          std::pair(at::kBFloat16, 2e-2)}) {
      for (const AttentionKind kind : kAttentionKinds) {
        if (!AttentionUnavailable(kind, DeviceKind::kCpu, false, 12).empty() ||
            (kind == AttentionKind::kOwn && dtype == at::kDouble)) {
          continue;
        }
        EXPECT_EQ(Evaluate(seq, dtype, kind).Verify(tolerance),
                  absl::OkStatus())
            << "seq " << seq << " " << dtype << " " << AttentionName(kind);
      }
    }
  }
}

TEST(VerifyAttentionTest, RefusesConstantInputs) {
  Round round;
  round.inputs = RandomAttentionInputs(3, 20, 12, at::TensorOptions());
  round.inputs.output_gradient.fill_(1);
  round.output = AttentionForward(AttentionKind::kNaive, round.inputs);
  round.gradients = AttentionBackward(round.inputs, round.output);
  EXPECT_THAT(std::string(round.Verify(1e-4).message()),
              StartsWith("an input has no value other than 1"));
}

TEST(VerifyAttentionTest, NamesTheTensorThatIsWrong) {
  const auto wrong = [](const auto& change) {
    Round round = Evaluate(100, at::kFloat);
    change(round);
    return std::string(round.Verify(1e-3).message());
  };
  const auto worse = [](at::Tensor& x) { x = x * 1.01; };
  EXPECT_THAT(wrong([&](Round& r) { worse(r.output); }),
              StartsWith("output_error 0.01 > 0.001 in 64 rows from "));
  EXPECT_THAT(wrong([&](Round& r) { worse(r.gradients.q); }),
              StartsWith("q_gradient_error"));
  EXPECT_THAT(wrong([&](Round& r) { worse(r.gradients.k); }),
              StartsWith("k_gradient_error"));
  EXPECT_THAT(wrong([&](Round& r) { worse(r.gradients.v); }),
              StartsWith("v_gradient_error"));
}

// An error in one of 48 blocks, which the norm over all blocks hides.
TEST(VerifyAttentionTest, FindsAnyBlockOfAnySequence) {
  for (const int64_t sequence : {0, 1, 2}) {
    for (const int64_t row : {0, 448, 960}) {
      Round round = Evaluate(1024, at::kFloat);
      for (at::Tensor* x : {&round.output, &round.gradients.q,
                            &round.gradients.k, &round.gradients.v}) {
        const at::Tensor right = x->detach().clone();
        *x = right.clone();
        x->select(0, sequence).narrow(0, row, 64).mul_(1.02);
        EXPECT_THAT(std::string(round.Verify(1e-2).message()),
                    EndsWith(absl::StrCat("_error 0.02 > 0.01 in 64 rows from ",
                                          row, " on of sequence ", sequence)));
        *x = right;
      }
      EXPECT_EQ(round.Verify(1e-2), absl::OkStatus());
    }
  }
}

// So long that a CPU compares only the last rows of one sequence.
TEST(VerifyAttentionTest, TheLastRowsOfALongSequenceAreRight) {
  AttentionInputs in = RandomAttentionInputs(2, 8192, 16, at::TensorOptions());
  const at::Tensor output = AttentionForward(AttentionKind::kOwn, in);
  AttentionGradients gradients = AttentionBackward(in, output);
  EXPECT_EQ(VerifyAttention(in, output, gradients, 1e-4), absl::OkStatus());
  gradients.k.narrow(1, 6144, 64).mul_(2);
  EXPECT_FALSE(VerifyAttention(in, output, gradients, 1e-4).ok());
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
