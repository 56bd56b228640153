// SPDX-License-Identifier: MIT
// The LibTorch dtypes of each precision, and the names of dtypes.

#ifndef TRAINBENCH_MODEL_NN_DTYPE_H_
#define TRAINBENCH_MODEL_NN_DTYPE_H_

#include <c10/core/ScalarType.h>

#include "absl/strings/string_view.h"
#include "model/spec/precision.h"

namespace trainbench {

// The dtype in which parameters are stored.
c10::ScalarType WeightType(Precision precision);

// The name of a dtype in case names and labels: "fp64", "fp32", "fp16", "bf16",
// or LibTorch's own name for any other.
absl::string_view DtypeName(c10::ScalarType dtype);

// Bits per element, e.g. 16.
int BitsOf(c10::ScalarType dtype);

// The dtype in which norms, softmax, rotations and losses are computed: fp32
// for the 16-bit types, because their sums would lose bits or overflow;
// otherwise the type itself, so that a float64 model is float64 throughout.
inline c10::ScalarType AtLeastFloat(c10::ScalarType dtype) {
  return dtype == c10::kHalf || dtype == c10::kBFloat16 ? c10::kFloat : dtype;
}

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_DTYPE_H_
