// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_DTYPE_H_
#define TRAINBENCH_MODEL_NN_DTYPE_H_

#include <c10/core/ScalarType.h>

namespace trainbench {

// The dtype in which norms, softmax, rotations and losses are computed: fp32
// for the 16-bit types, whose sums would lose bits or overflow, else the type
// itself (so that a float64 model is float64 throughout).
inline c10::ScalarType AtLeastFloat(c10::ScalarType dtype) {
  return dtype == c10::kHalf || dtype == c10::kBFloat16 ? c10::kFloat : dtype;
}

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_DTYPE_H_
