// SPDX-License-Identifier: MIT
// Helpers that the fused operations share: dtypes, reports to dry runs, the
// error for second derivatives, and profiler scopes.

#ifndef TRAINBENCH_MODEL_FUSED_ARGUMENTS_H_
#define TRAINBENCH_MODEL_FUSED_ARGUMENTS_H_

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <initializer_list>
#include <vector>

#include "model/dry_run/dry_run.h"

namespace trainbench {

// The dtype in which a product of tensors of `dtype` is currently computed on
// this thread: autocast's dtype if autocast is on for the device, else `dtype`.
at::ScalarType ProductType(at::ScalarType dtype, at::Device device);

// Returns `x`, or a contiguous copy if its last dimension is not contiguous.
at::Tensor WithRows(const at::Tensor& x);

// Bytes of all defined tensors.
double BytesOf(std::initializer_list<at::Tensor> tensors);

// Reports a kernel that reads and writes bytes() in total to a dry run. Outside
// a dry run, bytes() is not called.
template <typename Bytes>
void RecordKernel(const char* name, const Bytes& bytes) {
  if (DryRun::IsOn()) DryRun::Record({.name = name, .bytes = bytes()});
}

// Call it first in a backward pass. Throws c10::Error if the pass itself is to
// be differentiated: to autograd a kernel's results are constants, so a second
// derivative would silently lack a term.
void RefuseSecondDerivative(const char* operation);

// Records an operator of this name in a profile, for the lifetime of the
// object. Create it right before the autograd function is applied: like
// LibTorch's operators, it gets the sequence number of that function's node, so
// that the profiler attributes the backward node to this call.
class ProfiledOperator {
 public:
  // `name` must be a string literal. Observers of operators can read `inputs`.
  explicit ProfiledOperator(const char* name,
                            const std::vector<c10::IValue>& inputs = {});
  ProfiledOperator(const ProfiledOperator&) = delete;
  ProfiledOperator& operator=(const ProfiledOperator&) = delete;

 private:
  at::RecordFunction record_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_ARGUMENTS_H_
