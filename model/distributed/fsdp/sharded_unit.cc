// SPDX-License-Identifier: MIT

#include "model/distributed/fsdp/sharded_unit.h"

#include <c10/core/StorageImpl.h>
#include <torch/types.h>

#include <utility>

namespace trainbench {
namespace {

c10::StorageImpl& StorageOf(const at::Tensor& tensor) {
  return *tensor.storage().unsafeGetStorageImpl();
}

}  // namespace

ShardedUnit::ShardedUnit(std::vector<at::Tensor> parameters,
                         c10::ScalarType gathered_type, ProcessGroup& group,
                         ProcessGroup* replicas)
    : group_(group),
      replicas_(replicas != nullptr && replicas->size() > 1 ? replicas
                                                            : nullptr),
      parameters_(std::move(parameters)) {
  const at::NoGradGuard no_grad;
  const at::Tensor whole = Flattened(parameters_, group.size()).values;
  shard_ = group_.ChunkOf(whole).clone();
  shard_gradient_ = at::empty_like(shard_);
  shard_.mutable_grad() = shard_gradient_;
  values_ = whole.to(gathered_type);  // itself if it has this type
  int64_t begin = 0;
  for (at::Tensor& parameter : parameters_) {
    parameter.set_data(
        values_.narrow(0, begin, parameter.numel()).view(parameter.sizes()));
    begin += parameter.numel();
  }
  has_values_ = true;
  Free();
}

// resize_ would notify autograd, although nothing changes for it.
void ShardedUnit::Refill() {
  c10::StorageImpl& storage = StorageOf(values_);
  const std::size_t bytes = values_.nbytes();
  storage.set_data_ptr_noswap(storage.allocator()->allocate(bytes));
  storage.set_nbytes(bytes);
  has_values_ = true;
  if (exchanges_) {
    group_.ChunkOf(values_).copy_(shard_);
  } else {
    values_.view({group_.size(), -1}).copy_(shard_);
  }
}

void ShardedUnit::Gather() {
  if (has_values_) return WaitForValues();
  const at::NoGradGuard no_grad;
  Refill();
  if (exchanges_) group_.AllGather(values_, group_.ChunkOf(values_));
}

void ShardedUnit::StartGather() {
  if (has_values_) return;
  const at::NoGradGuard no_grad;
  Refill();
  if (exchanges_) {
    gathering_ = group_.StartAllGather(values_, group_.ChunkOf(values_));
  }
}

void ShardedUnit::WaitForValues() { Await(std::exchange(gathering_, nullptr)); }

void ShardedUnit::Free() {
  if (!has_values_) return;
  WaitForValues();
  c10::StorageImpl& storage = StorageOf(values_);
  storage.set_data_ptr_noswap(c10::DataPtr(nullptr, storage.device()));
  storage.set_nbytes(0);
  has_values_ = false;
}

bool ShardedUnit::TakeGradient(std::size_t index) {
  const at::NoGradGuard no_grad;
  if (!gradients_.values.defined()) {
    gradients_ =
        MakeFlatBuffer(parameters_, group_.size(), shard_.scalar_type());
  }
  const int replicas = replicas_ == nullptr ? 1 : replicas_->size();
  const double share = 1.0 / (group_.size() * replicas);
  at::Tensor& gradient = parameters_[index].mutable_grad();
  CopyScaled(gradient, share, gradients_.views[index]);
  gradient.reset();
  return ++taken_ == parameters_.size();
}

void ShardedUnit::Reduce() {
  const at::NoGradGuard no_grad;
  if (exchanges_) {
    group_.ReduceScatter(shard_gradient_, gradients_.values);
  } else {
    shard_gradient_.copy_(group_.ChunkOf(gradients_.values));
  }
  FinishReduce();
  WaitForReplicas();
}

void ShardedUnit::StartReduce() {
  if (!exchanges_) return Reduce();
  const at::NoGradGuard no_grad;
  reducing_ = group_.StartReduceScatter(shard_gradient_, gradients_.values);
}

void ShardedUnit::FinishReduce() {
  Await(std::exchange(reducing_, nullptr));
  gradients_ = {};
  taken_ = 0;
  if (exchanges_ && replicas_ != nullptr) {
    averaging_ = replicas_->StartAllReduce(shard_gradient_);
  }
}

void ShardedUnit::WaitForReplicas() {
  Await(std::exchange(averaging_, nullptr));
}

}  // namespace trainbench
