// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/parallel_step.h"

#include <torch/autograd.h>
#include <torch/types.h>

#include <cstddef>
#include <vector>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

at::Tensor RunParallelStep(TransformerLm& model, AdamW& optimizer,
                           GradientSync& sync, const Batch& batch,
                           Precision precision, PhaseObserver& observer) {
  observer.Enter(Phase::kForward);
  sync.BeforeForward();
  const at::Tensor loss = ComputeLoss(model, batch, precision, observer);
  observer.Enter(Phase::kBackward);
  sync.BeforeBackward();
  Communicate([&] { loss.backward(); });
  observer.Enter(Phase::kCommunication);
  sync.Finish();
  observer.Enter(Phase::kOptimizer);
  optimizer.Step();
  ReleaseGradients(model);
  return loss.detach();
}

void RunUnsynchronizedStep(TransformerLm& model, AdamW& optimizer,
                           const Batch& batch, Precision precision) {
  NullObserver nobody;
  const std::vector<at::Tensor> parameters = TrainableParameters(*model);
  const at::Tensor loss = ComputeLoss(model, batch, precision, nobody);
  // Unlike backward() it calls no hook of a complete gradient.
  const auto gradients = torch::autograd::grad({loss}, parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].mutable_grad() = gradients[i];
  }
  optimizer.Step();
  ReleaseGradients(model);
}

}  // namespace trainbench
