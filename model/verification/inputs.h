// SPDX-License-Identifier: MIT
// Makes inputs that are realistic, and tells them from constant ones.

#ifndef TRAINBENCH_MODEL_VERIFICATION_INPUTS_H_
#define TRAINBENCH_MODEL_VERIFICATION_INPUTS_H_

#include <ATen/core/Tensor.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trainbench {

// Fills a contiguous tensor of one dimension with random numbers, as random_
// draws integers and uniform_ others, and returns it. The numbers repeat after
// a million: on a CPU, drawing all of them takes longer than what moves them.
// The period is a prime, so a number from the wrong line, page or thread's part
// is a wrong number.
at::Tensor FillVaried(at::Tensor numbers);

// FailedPrecondition, naming `what`, if a number is not finite or all numbers
// are equal. A device takes less power for constants, so it keeps a higher
// clock and is faster than with real data. Fewer than 16 numbers may be equal.
absl::Status CheckVaried(absl::string_view what, const at::Tensor& numbers);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_VERIFICATION_INPUTS_H_
