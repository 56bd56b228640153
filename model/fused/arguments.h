// SPDX-License-Identifier: MIT
// What the fused operations share: on which devices they run, the dtype of
// products, which gradients they have, and how a profile finds them.

#ifndef TRAINBENCH_MODEL_FUSED_ARGUMENTS_H_
#define TRAINBENCH_MODEL_FUSED_ARGUMENTS_H_

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <initializer_list>

#include "model/dry_run/dry_run.h"

namespace trainbench {

// The dtype in which a product of tensors of `dtype` is computed now, on this
// thread: autocast's if it is on for the device, else their own.
at::ScalarType ProductType(at::ScalarType dtype, at::Device device);

// Whether `x` is on a CPU, else on a GPU. c10::Error on any other device.
bool IsOnCpu(const at::Tensor& x, const char* operation);

// Has channels, the last dimension, side by side; x itself if it does.
at::Tensor WithRows(const at::Tensor& x);

// Of all tensors, those that are not defined left out.
double BytesOf(std::initializer_list<at::Tensor> tensors);

// Lets a dry run know of a kernel, which reads and writes bytes() in all. Real
// calls do not count them.
template <typename Bytes>
void TellKernel(const char* name, const Bytes& bytes) {
  if (DryRun::IsOn()) DryRun::Tell({.name = name, .bytes = bytes()});
}

// For the begin of a backward pass. c10::Error if that is to be differentiated
// again: a kernel's results are constants to autograd, so the second derivative
// would lack a part and nobody would notice.
void RefuseSecondDerivative(const char* operation);

// An operator of this name in a profile, for the lifetime of the object: make
// it right before the autograd function is applied. It has the sequence number
// of that function's node, as LibTorch's operators have, so the node in the
// backward pass counts where this was called.
class OperatorScope {
 public:
  // `name` is a string literal.
  explicit OperatorScope(const char* name);
  OperatorScope(const OperatorScope&) = delete;
  OperatorScope& operator=(const OperatorScope&) = delete;

 private:
  at::RecordFunction record_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_ARGUMENTS_H_
