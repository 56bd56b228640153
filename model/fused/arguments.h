// SPDX-License-Identifier: MIT
// What the fused operations share: on which devices they run, and the dtype of
// products.

#ifndef TRAINBENCH_MODEL_FUSED_ARGUMENTS_H_
#define TRAINBENCH_MODEL_FUSED_ARGUMENTS_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// The dtype in which a product of tensors of `dtype` is computed now, on this
// thread: autocast's if it is on for the device, else their own.
at::ScalarType ProductType(at::ScalarType dtype, at::Device device);

// c10::Error unless `x` is on a device with kernels for `operation`: a CPU.
void CheckDevice(const at::Tensor& x, const char* operation);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_ARGUMENTS_H_
