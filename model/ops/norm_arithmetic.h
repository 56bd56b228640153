// SPDX-License-Identifier: MIT
// A norm whose internal steps are rounded to a dtype of choice: what does it
// cost to compute it in the dtype of its input?

#ifndef TRAINBENCH_MODEL_OPS_NORM_ARITHMETIC_H_
#define TRAINBENCH_MODEL_OPS_NORM_ARITHMETIC_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trainbench {

enum class NormKind {
  kRmsNorm,    // x / sqrt(mean(x^2) + 1e-5)
  kLayerNorm,  // the same of x - mean(x)
};

// "rms_norm", "layer_norm".
absl::string_view NormKindName(NormKind kind);

// [rows, dim] normal numbers of standard deviation `magnitude`, the same in
// every dtype but for rounding.
at::Tensor NormalInput(int64_t rows, int64_t dim, double magnitude,
                       c10::ScalarType dtype, c10::Device device);

struct NormResult {
  at::Tensor y;            // [rows, dim]
  at::Tensor mean_square;  // [rows, 1]; infinite where a square overflowed
};

// Normalizes the rows of x [rows, dim], with a gain of 1. Every operation gives
// its result in `compute_dtype`; y is then cast to the dtype of x. (Inside one
// operation, such as a sum over a row, LibTorch itself accumulates in fp32.)
NormResult Normalize(NormKind kind, const at::Tensor& x,
                     c10::ScalarType compute_dtype);

// The same by float64 operations, each rounded to `compute_dtype` afterwards.
// kDouble rounds nothing: the true norm of x. The results are float64.
NormResult SimulateNorm(NormKind kind, const at::Tensor& x,
                        c10::ScalarType compute_dtype);

// In how many of all rows a square overflowed, 0 to 1.
double OverflowedShare(const NormResult& result);

// |y - true norm| / |true norm| over all rows together.
double NormError(NormKind kind, const at::Tensor& x, const at::Tensor& y);

// Is `result` what Normalize should give? If the internals are wider than x it
// must be within one rounding of the true norm. If not it may be as wrong as
// they make it, but it must be so where the simulation is, and infinite
// nowhere else. FailedPrecondition gives the error and what is allowed.
absl::Status CheckNorm(NormKind kind, const at::Tensor& x,
                       c10::ScalarType compute_dtype, const NormResult& result);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_OPS_NORM_ARITHMETIC_H_
