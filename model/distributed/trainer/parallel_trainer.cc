// SPDX-License-Identifier: MIT

#include "model/distributed/trainer/parallel_trainer.h"

#include <torch/types.h>

#include <unordered_set>

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

at::Tensor ComputeMeanGradients(TransformerLm& model, ParallelTrainer& trainer,
                                const Batch& batch, Precision precision,
                                PhaseObserver& observer) {
  observer.Enter(Phase::kForward);
  trainer.BeforeForward();
  const at::Tensor loss = ComputeLoss(model, batch, precision, observer);
  observer.Enter(Phase::kBackward);
  trainer.BeforeBackward();
  Communicate([&] { loss.backward(); });
  if (trainer.averages_gradients()) observer.Enter(Phase::kCommunication);
  trainer.Finish();
  return loss.detach();
}

void UpdateParameters(ParallelTrainer& trainer, PhaseObserver& observer) {
  observer.Enter(Phase::kOptimizer);
  trainer.Update();
  if (!trainer.shares_parameters()) return;
  observer.Enter(Phase::kCommunication);
  trainer.ShareParameters();
}

at::Tensor RunParallelStep(TransformerLm& model, ParallelTrainer& trainer,
                           const Batch& batch, Precision precision,
                           PhaseObserver& observer) {
  const at::Tensor loss =
      ComputeMeanGradients(model, trainer, batch, precision, observer);
  UpdateParameters(trainer, observer);
  return loss;
}

std::vector<at::Tensor> TrainableParameters(const torch::nn::Module& module) {
  std::vector<at::Tensor> trainable;
  for (const at::Tensor& parameter : EachOnce(module.parameters())) {
    if (parameter.requires_grad()) trainable.push_back(parameter);
  }
  return trainable;
}

std::string DescribeParameter(std::size_t index, const at::Tensor& parameter) {
  return c10::str("parameter ", index, " ", parameter.sizes());
}

std::string NoGradient(std::size_t index, const at::Tensor& parameter,
                       const ProcessGroup& group) {
  return c10::str(DescribeParameter(index, parameter),
                  " has no gradient on rank ", group.rank());
}

void AverageGradients(const std::vector<at::Tensor>& parameters,
                      ProcessGroup& group) {
  const double share = 1.0 / group.size();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& gradient = parameters[i].grad();
    TORCH_CHECK(gradient.defined(), NoGradient(i, parameters[i], group));
    group.AllReduce(gradient.mul_(share));
  }
}

void BroadcastModel(const torch::nn::Module& module, ProcessGroup& group) {
  for (const at::Tensor& parameter : EachOnce(module.parameters())) {
    group.Broadcast(parameter.detach(), /*root=*/0);
  }
}

}  // namespace trainbench
