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

SyncBase::SyncBase(const SyncOptions& options,
                   std::vector<at::Tensor> parameters, ProcessGroup& group)
    : options_(options), parameters_(std::move(parameters)), group_(group) {
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

std::vector<std::size_t> SyncBase::Missing(const Test& has_gradient) const {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (has_gradient(i)) continue;
    TORCH_CHECK(options_.unused_parameters,
                DescribeParameter(i, parameters_[i]),
                " has no gradient on rank ", group_.rank(),
                "; SyncOptions::unused_parameters would allow that");
    missing.push_back(i);
  }
  return missing;
}

std::vector<std::size_t> SyncBase::FillMissing() const {
  const auto missing =
      Missing([&](std::size_t i) { return parameters_[i].grad().defined(); });
  for (const std::size_t i : missing) {
    parameters_[i].mutable_grad() = at::zeros_like(parameters_[i]);
  }
  return missing;
}

void SyncBase::DropUnused(const std::vector<std::size_t>& missing) {
  if (!options_.unused_parameters) return;
  at::Tensor users =
      at::ones({static_cast<int64_t>(parameters_.size())}, at::kInt);
  for (const std::size_t i : missing) users[static_cast<int64_t>(i)].zero_();
  users = users.to(parameters_.front().device());
  StartAllReduce(users)->Wait();
  if (missing.empty()) return;
  users = users.cpu();
  for (const std::size_t i : missing) {
    if (users.data_ptr<int>()[i] == 0) parameters_[i].mutable_grad().reset();
  }
}

}  // namespace trainbench
