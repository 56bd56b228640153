// SPDX-License-Identifier: MIT
// Adding 0.01 a thousand times, in the dtypes of a mixed-precision sum.

#ifndef TRAINBENCH_MODEL_OPS_ACCUMULATION_H_
#define TRAINBENCH_MODEL_OPS_ACCUMULATION_H_

#include <ATen/core/Tensor.h>

#include <array>

#include "absl/status/status.h"

namespace trainbench {

inline constexpr double kTerm = 0.01;
inline constexpr int kTerms = 1000;

// Which dtype is added to which: sum += term.
struct Accumulation {
  const char* name;
  c10::ScalarType sum;
  c10::ScalarType term;
  // Whether each term is cast to the sum's dtype by an operation of its own,
  // rather than by the addition.
  bool cast = false;
};

// The four of the CS336 assignment, and bf16.
inline constexpr std::array<Accumulation, 5> kAccumulations = {{
    {"fp32_plus_fp32", c10::kFloat, c10::kFloat},
    {"fp16_plus_fp16", c10::kHalf, c10::kHalf},
    {"fp32_plus_fp16", c10::kFloat, c10::kHalf},
    {"fp32_plus_fp32_of_fp16", c10::kFloat, c10::kHalf, /*cast=*/true},
    {"bf16_plus_bf16", c10::kBFloat16, c10::kBFloat16},
}};

// kTerm as a scalar of the term's dtype.
at::Tensor MakeTerm(const Accumulation& which, c10::Device device);

// kTerms operations sum += term from sum = 0. `term` and the result are scalars
// on the same device.
at::Tensor Accumulate(const Accumulation& which, const at::Tensor& term);

// The same sum by float64 arithmetic, rounded by hand to the significant bits
// of the dtype after each addition. Bit for bit what IEEE addition gives, for
// numbers as harmless as these: none is subnormal, none overflows.
double SimulatedSum(const Accumulation& which);

// FailedPrecondition if `sum` is any other number than SimulatedSum(which).
absl::Status VerifySum(const Accumulation& which, double sum);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_OPS_ACCUMULATION_H_
