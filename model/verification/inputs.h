// SPDX-License-Identifier: MIT
// Tells realistic inputs from constant ones.

#ifndef TRAINBENCH_MODEL_VERIFICATION_INPUTS_H_
#define TRAINBENCH_MODEL_VERIFICATION_INPUTS_H_

#include <ATen/core/Tensor.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trainbench {

// FailedPrecondition, naming `what`, if a number is not finite or all numbers
// are equal. A device takes less power for constants, so it keeps a higher
// clock and is faster than with real data. Fewer than 16 numbers may be equal.
absl::Status CheckVaried(absl::string_view what, const at::Tensor& numbers);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_VERIFICATION_INPUTS_H_
