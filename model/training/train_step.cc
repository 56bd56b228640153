// SPDX-License-Identifier: MIT

#include "model/training/train_step.h"

#include <torch/types.h>

#include "model/nn/autocast.h"

namespace trainbench {
namespace {

at::Tensor Forward(TransformerLm& model, const at::Tensor& tokens,
                   Precision precision, PhaseObserver& observer) {
  observer.Enter(Phase::kForward);
  const AutocastScope autocast(precision, tokens.device().type());
  return model(tokens);
}

}  // namespace

Batch RandomBatch(int64_t vocab, int64_t batch, int64_t seq,
                  at::Device device) {
  const at::TensorOptions options = at::device(device).dtype(at::kLong);
  return {at::randint(vocab, {batch, seq}, options),
          at::randint(vocab, {batch, seq}, options)};
}

const std::vector<at::Tensor>& Parameters(const TransformerLm& model) {
  return model->parameter_list;
}

void ReleaseGradients(const TransformerLm& model) {
  for (const at::Tensor& parameter : Parameters(model)) {
    parameter.mutable_grad().reset();
  }
}

void RandomizeGradients(const TransformerLm& model) {
  for (const at::Tensor& parameter : Parameters(model)) {
    parameter.mutable_grad() = at::randn_like(parameter.detach());
  }
}

at::Tensor ComputeLoss(TransformerLm& model, const Batch& batch,
                       Precision precision, PhaseObserver& observer) {
  observer.Enter(Phase::kForward);
  const AutocastScope autocast(precision, batch.tokens.device().type());
  at::Tensor logits = model(batch.tokens);
  observer.Enter(Phase::kLoss);
  return model->Loss(std::move(logits), batch.targets);
}

at::Tensor ComputeGradients(TransformerLm& model, const Batch& batch,
                            Precision precision, PhaseObserver& observer) {
  const at::Tensor loss = ComputeLoss(model, batch, precision, observer);
  observer.Enter(Phase::kBackward);
  loss.backward();
  return loss.detach();
}

at::Tensor RunStep(StepMode mode, TransformerLm& model, AdamW* optimizer,
                   const Batch& batch, Precision precision,
                   PhaseObserver& observer) {
  TORCH_CHECK(mode != StepMode::kTrainStep || optimizer != nullptr,
              "a train step needs an optimizer");
  if (mode == StepMode::kInference) {
    const at::NoGradGuard no_grad;
    return Forward(model, batch.tokens, precision, observer);
  }
  if (mode == StepMode::kForward) {
    return Forward(model, batch.tokens, precision, observer).detach();
  }
  at::Tensor loss = ComputeGradients(model, batch, precision, observer);
  if (mode == StepMode::kTrainStep) {
    observer.Enter(Phase::kOptimizer);
    optimizer->Step();
  }
  ReleaseGradients(model);
  return loss;
}

}  // namespace trainbench
