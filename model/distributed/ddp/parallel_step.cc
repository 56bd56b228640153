// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/parallel_step.h"

namespace trainbench {

at::Tensor RunParallelStep(TransformerLm& model, AdamW& optimizer,
                           GradientSync& sync, const Batch& batch,
                           Precision precision, PhaseObserver& observer) {
  observer.Enter(Phase::kForward);
  sync.BeforeForward();
  const at::Tensor loss = ComputeLoss(model, batch, precision, observer);
  observer.Enter(Phase::kBackward);
  sync.BeforeBackward();
  loss.backward();
  observer.Enter(Phase::kCommunication);
  sync.Finish();
  observer.Enter(Phase::kOptimizer);
  optimizer.Step();
  ReleaseGradients(model);
  return loss.detach();
}

}  // namespace trainbench
