// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_VERIFICATION_RELATIVE_ERROR_H_
#define TRAINBENCH_MODEL_VERIFICATION_RELATIVE_ERROR_H_

#include <ATen/core/Tensor.h>

#include <vector>

namespace trainbench {

// Returns |actual - expected| / |expected| in float64, with the 2-norm over all
// elements of two tensors with the same shape. 0 if they are equal, even if
// both are 0.
double RelativeError(const at::Tensor& actual, const at::Tensor& expected);

// The relative error of several tensors, taken as one vector. Allocates as much
// memory as the largest tensor.
double RelativeError(const std::vector<at::Tensor>& actual,
                     const std::vector<at::Tensor>& expected);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_VERIFICATION_RELATIVE_ERROR_H_
