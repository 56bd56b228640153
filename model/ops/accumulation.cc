// SPDX-License-Identifier: MIT

#include "model/ops/accumulation.h"

#include <torch/types.h>

#include <cmath>

#include "absl/strings/str_format.h"

namespace trainbench {
namespace {

// Includes the leading 1.
int SignificantBits(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::kHalf:
      return 11;
    case c10::kBFloat16:
      return 8;
    default:
      return 24;
  }
}

// Rounds to nearest, ties to even, nearbyint's default mode.
double Round(double value, c10::ScalarType dtype) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // in [0.5, 1)
  const int bits = SignificantBits(dtype);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits)),
                    exponent - bits);
}

}  // namespace

at::Tensor MakeTerm(const Accumulation& which, c10::Device device) {
  return at::full({}, kTerm, at::device(device).dtype(which.term));
}

at::Tensor Accumulate(const Accumulation& which, const at::Tensor& term) {
  at::Tensor sum = at::zeros({}, term.options().dtype(which.sum));
  for (int i = 0; i < kTerms; ++i) {
    sum += which.cast ? term.to(which.sum) : term;
  }
  return sum;
}

double SimulatedSum(const Accumulation& which) {
  const double term = Round(kTerm, which.term);
  double sum = 0;
  for (int i = 0; i < kTerms; ++i) sum = Round(sum + term, which.sum);
  return sum;
}

absl::Status VerifySum(const Accumulation& which, double sum) {
  const double expected = SimulatedSum(which);
  if (sum == expected) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "the sum is %.9g; rounded step by step it is %.9g", sum, expected));
}

}  // namespace trainbench
