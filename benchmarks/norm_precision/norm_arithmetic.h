// SPDX-License-Identifier: MIT
// Norms with intermediate results rounded to a chosen dtype, to measure the
// error of 16-bit intermediates.

#ifndef TRAINBENCH_BENCHMARKS_NORM_PRECISION_NORM_ARITHMETIC_H_
#define TRAINBENCH_BENCHMARKS_NORM_PRECISION_NORM_ARITHMETIC_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "absl/status/status.h"
#include "model/spec/enum_names.h"

namespace trainbench {

enum class NormKind {
  kRmsNorm,    // x / sqrt(mean(x^2) + 1e-5)
  kLayerNorm,  // rms_norm of x - mean(x)
};

inline constexpr EnumNames<NormKind, 2> NormKindName{"rms_norm", "layer_norm"};

// Returns [rows, dim] normal values with standard deviation `magnitude`. They
// differ between dtypes only by rounding.
at::Tensor NormalInput(int64_t rows, int64_t dim, double magnitude,
                       c10::ScalarType dtype, c10::Device device);

struct NormResult {
  at::Tensor y;            // [rows, dim]
  at::Tensor mean_square;  // [rows, 1]; infinite if a square overflowed
};

// Normalizes the rows of x [rows, dim], with a gain of 1. Every operation
// returns `compute_dtype`; y is then cast to the dtype of x. (Within one
// operation, such as a sum over a row, LibTorch itself accumulates in fp32.)
NormResult Normalize(NormKind kind, const at::Tensor& x,
                     c10::ScalarType compute_dtype);

// Normalize() in float64, with each operation rounded to `compute_dtype`.
// kDouble rounds nothing and gives the true norm of x. Results are float64.
NormResult SimulateNorm(NormKind kind, const at::Tensor& x,
                        c10::ScalarType compute_dtype);

// Returns the share of rows in which a square overflowed, 0 to 1.
double OverflowedShare(const NormResult& result);

// Returns |y - true norm| / |true norm| over all rows together.
double NormError(NormKind kind, const at::Tensor& x, const at::Tensor& y);

// Verifies a result of Normalize. With intermediates wider than x, y must be
// within one rounding of the true norm. Otherwise y must match SimulateNorm,
// with infinite mean squares in the same rows. FailedPrecondition gives the
// error and the limit, or reports a constant input.
absl::Status CheckNorm(NormKind kind, const at::Tensor& x,
                       c10::ScalarType compute_dtype, const NormResult& result);

}  // namespace trainbench

#endif  // TRAINBENCH_BENCHMARKS_NORM_PRECISION_NORM_ARITHMETIC_H_
