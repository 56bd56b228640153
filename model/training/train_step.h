// SPDX-License-Identifier: MIT
// The steps that experiments measure.

#ifndef TRAINBENCH_MODEL_TRAINING_TRAIN_STEP_H_
#define TRAINBENCH_MODEL_TRAINING_TRAIN_STEP_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/nn/transformer_lm.h"
#include "model/spec/phase.h"
#include "model/spec/precision.h"
#include "model/spec/step_params.h"
#include "model/training/adamw.h"

namespace trainbench {

// tokens and targets: [batch, seq] int64.
struct Batch {
  at::Tensor tokens;
  at::Tensor targets;
};

// Draws tokens and targets uniformly from [0, vocab) with the device's default
// generator.
Batch RandomBatch(int64_t vocab, int64_t batch, int64_t seq, at::Device device);

// Parameters in the order of named_parameters(). The model keeps the list.
const std::vector<at::Tensor>& Parameters(const TransformerLm& model);

// Releases every gradient (sets it to undefined, not to zero).
void ReleaseGradients(const TransformerLm& model);

// Gives every parameter a normally distributed gradient, to measure the
// optimizer alone.
void RandomizeGradients(const TransformerLm& model);

// Runs the forward pass and the loss under the precision's autocast. Returns
// the loss, a scalar with its graph.
at::Tensor ComputeLoss(TransformerLm& model, const Batch& batch,
                       Precision precision,
                       PhaseObserver& observer = NoObserver());

// ComputeLoss() and the backward pass. Leaves the gradients in the parameters.
// Returns the loss, a detached scalar.
at::Tensor ComputeGradients(TransformerLm& model, const Batch& batch,
                            Precision precision,
                            PhaseObserver& observer = NoObserver());

// Runs one whole step of `mode`. Releases the gradients in the step's last
// phase, so that they do not accumulate and are not allocated during the next
// forward pass. Only kTrainStep needs `optimizer`. Returns the logits for the
// forward modes, else the detached loss.
at::Tensor RunStep(StepMode mode, TransformerLm& model, AdamW* optimizer,
                   const Batch& batch, Precision precision,
                   PhaseObserver& observer = NoObserver());

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_TRAINING_TRAIN_STEP_H_
