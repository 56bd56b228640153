// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/sync_base.h"

#include <ATen/ScalarOps.h>
#include <torch/types.h>

#include <cstdint>
#include <unordered_set>
#include <utility>

namespace trainbench {

std::string DescribeParameter(std::size_t index, const at::Tensor& parameter) {
  return c10::str("parameter ", index, " ", parameter.sizes());
}

SyncBase::SyncBase(std::vector<at::Tensor> parameters, ProcessGroup& group)
    : parameters_(std::move(parameters)), group_(group) {
  TORCH_CHECK(!parameters_.empty(), "no parameter requires a gradient");
  std::unordered_set<const c10::TensorImpl*> seen;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& parameter = parameters_[i];
    TORCH_CHECK(parameter.requires_grad() && parameter.is_leaf(),
                DescribeParameter(i, parameter),
                " is not a leaf that requires a gradient");
    TORCH_CHECK(parameter.is_contiguous(), DescribeParameter(i, parameter),
                " is not contiguous");
    TORCH_CHECK(seen.insert(parameter.unsafeGetTensorImpl()).second,
                DescribeParameter(i, parameter), " is listed twice");
  }
}

void SyncBase::CopyShare(const at::Tensor& gradient, at::Tensor place) {
  // In one pass. The overload for a plain number would make a temporary.
  at::mul_out(place, gradient, at::native::wrapped_scalar_tensor(share()));
  counting_.copied_bytes += static_cast<int64_t>(gradient.nbytes());
}

std::unique_ptr<Collective> SyncBase::StartAllReduce(const at::Tensor& tensor) {
  ++counting_.calls;
  counting_.bytes += static_cast<int64_t>(tensor.nbytes());
  return group_.StartAllReduce(tensor);
}

void SyncBase::RequireGradients(const Test& has_gradient) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    TORCH_CHECK(has_gradient(i), DescribeParameter(i, parameters_[i]),
                " has no gradient on rank ", group_.rank());
  }
}

void SyncBase::RequireGradients() const {
  RequireGradients(
      [&](std::size_t i) { return parameters_[i].grad().defined(); });
}

}  // namespace trainbench
