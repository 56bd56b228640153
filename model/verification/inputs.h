// SPDX-License-Identifier: MIT
// Creates realistic inputs, and detects constant ones.

#ifndef TRAINBENCH_MODEL_VERIFICATION_INPUTS_H_
#define TRAINBENCH_MODEL_VERIFICATION_INPUTS_H_

#include <ATen/core/Tensor.h>

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trainbench {

// Fills a contiguous one-dimensional tensor with random numbers (random_ for
// integers, uniform_ otherwise) and returns it. The numbers repeat after a
// million: on a CPU, drawing a random number takes longer than moving it in
// memory. The period is prime, so a value from a wrong cache line, page or
// thread's part is a wrong value.
at::Tensor FillVaried(at::Tensor numbers);

struct ValueRange {
  double least, most;

  // False if any value is infinite or NaN.
  bool is_finite() const { return std::isfinite(least) && std::isfinite(most); }
};

// Returns the range of the values of a tensor that is not empty. Allocates only
// two numbers.
ValueRange RangeOf(const at::Tensor& numbers);

// Returns FailedPrecondition, naming `what`, if a number is not finite or all
// numbers are equal. A device draws less power with constants, so it keeps a
// higher clock than with real data. Fewer than 16 numbers may be equal.
absl::Status CheckVaried(absl::string_view what, const at::Tensor& numbers);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_VERIFICATION_INPUTS_H_
