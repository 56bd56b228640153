// SPDX-License-Identifier: MIT
// Adds 0.01 a thousand times, in the dtypes of a mixed-precision sum.

#ifndef TRAINBENCH_MODEL_OPS_ACCUMULATION_H_
#define TRAINBENCH_MODEL_OPS_ACCUMULATION_H_

#include <ATen/core/Tensor.h>

#include <array>

#include "absl/status/status.h"

namespace trainbench {

inline constexpr double kTerm = 0.01;
inline constexpr int kTerms = 1000;

// The dtypes of sum += term.
struct Accumulation {
  const char* name;
  c10::ScalarType sum;
  c10::ScalarType term;
  // Whether a separate operation, not the addition, casts each term to the
  // sum's dtype.
  bool cast = false;
};

// The four sums of the CS336 assignment, and bf16.
inline constexpr std::array<Accumulation, 5> kAccumulations = {{
    {"fp32_plus_fp32", c10::kFloat, c10::kFloat},
    {"fp16_plus_fp16", c10::kHalf, c10::kHalf},
    {"fp32_plus_fp16", c10::kFloat, c10::kHalf},
    {"fp32_plus_fp32_of_fp16", c10::kFloat, c10::kHalf, /*cast=*/true},
    {"bf16_plus_bf16", c10::kBFloat16, c10::kBFloat16},
}};

// kTerm as a scalar in the term's dtype.
at::Tensor MakeTerm(const Accumulation& which, c10::Device device);

// kTerms operations sum += term from sum = 0. `term` and the result are scalars
// on the same device.
at::Tensor Accumulate(const Accumulation& which, const at::Tensor& term);

// The same sum in float64, rounded to the significant bits of the dtype after
// each addition. Equals IEEE addition bit for bit, because no number here is
// subnormal or overflows.
double SimulatedSum(const Accumulation& which);

// FailedPrecondition unless `sum` equals SimulatedSum(which).
absl::Status VerifySum(const Accumulation& which, double sum);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_OPS_ACCUMULATION_H_
