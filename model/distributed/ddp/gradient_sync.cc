// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/gradient_sync.h"

#include <torch/types.h>

#include <unordered_set>
#include <utility>

namespace trainbench {

namespace {

std::vector<at::Tensor> EachOnce(const std::vector<at::Tensor>& tensors) {
  std::unordered_set<const c10::TensorImpl*> seen;
  std::vector<at::Tensor> once;
  for (const at::Tensor& tensor : tensors) {
    if (seen.insert(tensor.unsafeGetTensorImpl()).second) {
      once.push_back(tensor);
    }
  }
  return once;
}

}  // namespace

std::unique_ptr<GradientSync> MakeGradientSync(
    const SyncOptions& options, std::vector<at::Tensor> parameters,
    ProcessGroup& group) {
  switch (options.strategy) {
    case SyncStrategy::kPerParameter:
      return MakePerParameterSync(std::move(parameters), group);
    case SyncStrategy::kFlat:
      return MakeFlatSync(std::move(parameters), group);
    case SyncStrategy::kOverlapPerParameter:
      return MakeOverlapPerParameterSync(std::move(parameters), group);
    case SyncStrategy::kOverlapBucketed:
      return MakeOverlapBucketedSync(options, std::move(parameters), group);
    case SyncStrategy::kReducer:
      return MakeReducerSync(options, std::move(parameters), group);
  }
  TORCH_CHECK(false, "no such strategy: ", static_cast<int>(options.strategy));
}

std::vector<at::Tensor> TrainableParameters(const torch::nn::Module& module) {
  std::vector<at::Tensor> trainable;
  for (const at::Tensor& parameter : EachOnce(module.parameters())) {
    if (parameter.requires_grad()) trainable.push_back(parameter);
  }
  return trainable;
}

void BroadcastModel(const torch::nn::Module& module, ProcessGroup& group) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> tensors = module.parameters();
  for (const at::Tensor& buffer : module.buffers()) tensors.push_back(buffer);
  for (const at::Tensor& tensor : EachOnce(tensors)) {
    const at::Tensor values = tensor.detach().contiguous();
    group.Broadcast(values, /*root=*/0);
    if (!values.is_alias_of(tensor)) tensor.copy_(values);
  }
}

}  // namespace trainbench
