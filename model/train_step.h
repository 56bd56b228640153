// SPDX-License-Identifier: MIT
// The four kinds of step that experiments measure.

#ifndef TRAINBENCH_MODEL_TRAIN_STEP_H_
#define TRAINBENCH_MODEL_TRAIN_STEP_H_

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/adamw.h"
#include "model/phase.h"
#include "model/precision.h"
#include "model/transformer_lm.h"

namespace trainbench {

enum class StepMode {
  kInference,        // logits, nothing recorded for a backward pass
  kForward,          // logits, with the graph a backward pass would need
  kForwardBackward,  // logits, loss, gradients
  kTrainStep,        // logits, loss, gradients, AdamW update
};

inline constexpr std::array<StepMode, 4> kStepModes = {
    StepMode::kInference, StepMode::kForward, StepMode::kForwardBackward,
    StepMode::kTrainStep};

// "inference", "forward", "forward_backward", "train_step".
absl::string_view StepModeName(StepMode mode);

// InvalidArgument names the value and lists the names above.
absl::StatusOr<StepMode> ParseStepMode(absl::string_view name);

// tokens and targets: [batch, seq] int64.
struct Batch {
  at::Tensor tokens;
  at::Tensor targets;
};

// Uniformly random tokens and targets in [0, vocab) from the device's default
// generator.
Batch RandomBatch(int64_t vocab, int64_t batch, int64_t seq, at::Device device);

// Parameters in the order of named_parameters().
std::vector<at::Tensor> Parameters(const TransformerLm& model);

// Drops every gradient (set to none, not to zero).
void ReleaseGradients(const TransformerLm& model);

// Gives every parameter a normally distributed gradient, for an optimizer that
// is measured alone.
void RandomizeGradients(const TransformerLm& model);

// Forward pass and loss under the precision's autocast: the loss, a scalar from
// which backward() can start.
at::Tensor ComputeLoss(TransformerLm& model, const Batch& batch,
                       Precision precision, PhaseObserver& observer);

// ComputeLoss(), then backward. Leaves the gradients in the parameters. Returns
// the loss, a detached scalar.
at::Tensor ComputeGradients(TransformerLm& model, const Batch& batch,
                            Precision precision, PhaseObserver& observer);

// One whole step of `mode`. Gradients are released before it returns, as part
// of its last phase, so that steps do not accumulate and the next forward pass
// does not carry them. `optimizer` is needed for kTrainStep only. The result is
// the logits for the forward modes, else the detached loss.
at::Tensor RunStep(StepMode mode, TransformerLm& model, AdamW* optimizer,
                   const Batch& batch, Precision precision,
                   PhaseObserver& observer);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_TRAIN_STEP_H_
