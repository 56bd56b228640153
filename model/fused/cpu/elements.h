// SPDX-License-Identifier: MIT
// Maps a tensor's dtype to the type of its elements.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_ELEMENTS_H_
#define TRAINBENCH_MODEL_FUSED_CPU_ELEMENTS_H_

#include <ATen/core/Tensor.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Exception.h>

namespace trainbench {

// Calls f with a value of the dtype's element type, float or c10::BFloat16.
// c10::Error names any other dtype.
template <typename F>
void WithElements(c10::ScalarType dtype, F f) {
  if (dtype == c10::kFloat) return f(float());
  if (dtype == c10::kBFloat16) return f(c10::BFloat16());
  TORCH_CHECK(false, "dtype is ", dtype, "; allowed: Float, BFloat16");
}

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_ELEMENTS_H_
