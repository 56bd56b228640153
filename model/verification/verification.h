// SPDX-License-Identifier: MIT
// Verifies a model's step before and after the timing, at any size and in any
// precision.

#ifndef TRAINBENCH_MODEL_VERIFICATION_VERIFICATION_H_
#define TRAINBENCH_MODEL_VERIFICATION_VERIFICATION_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "model/nn/transformer_lm.h"
#include "model/spec/precision.h"
#include "model/training/adamw.h"
#include "model/training/train_step.h"

namespace trainbench {

struct BatchShape {
  int64_t batch = 1;
  int64_t seq = 1;
};

// Replacements for RunStep and ComputeGradients; null: use these.
struct StepFunctions {
  // tokens [batch, seq] -> logits [batch, seq, vocab]
  std::function<at::Tensor(const at::Tensor& tokens)> logits = nullptr;
  // Leaves the gradients in the parameters and returns the loss.
  std::function<at::Tensor(const Batch& batch)> gradients = nullptr;
};

// Runs one step of `mode` on random sequences of the timed shape, so that
// libraries choose the same kernels, and compares
// - the logits of each sequence with ReferenceLogits, by the norm of the
//   difference;
// - the gradient g, as one vector over all parameters, with the slope of the
//   reference loss, (L(w + eps d) - L(w - eps d)) / (2 eps) = g.d, along a
//   random direction d from the default generator;
// - a first AdamW update of some tensors with lr (g / (|g| + eps) + decay * w).
//
// Also verifies that the matrix products match the precision (products.h).
//
// `optimizer` is needed for kTrainStep and must not have stepped yet; the call
// advances it and the weights by one step. The errors are logits_error,
// gradient_error and update_error (spec/check_log.h), the last one in units of
// the allowed rounding error.
absl::Status VerifyStep(StepMode mode, TransformerLm& model, AdamW* optimizer,
                        Precision precision, const BatchShape& shape,
                        const StepFunctions& functions = {});

// Call it after the timing: runs one more step of `mode` on the timed batch and
// compares its result with the float64 model of the current weights: the logits
// of the last sequence, or the loss (loss_error). The loss has the tolerance of
// the logits, relative to the loss or to 1 if the loss is smaller. A train step
// must also have changed the weights, unless all of them are so large that
// their dtype rounds the step away.
absl::Status VerifyOutput(StepMode mode, TransformerLm& model, AdamW* optimizer,
                          const Batch& batch, Precision precision);

// The same for a step that `run` runs in another way. `run` returns what
// RunStep returns.
absl::Status VerifyOutput(StepMode mode, const TransformerLm& model,
                          const Batch& batch, Precision precision,
                          const std::function<at::Tensor()>& run);

// Runs a train step and checks that it changed the weights, as VerifyOutput
// does.
absl::Status VerifyMoves(const TransformerLm& model,
                         const std::function<void()>& step);

// Takes the first step of `optimizer` and compares the update of `parameters`
// with AdamW's formula for a first update in float64. `parameters` belong to
// the optimizer and have gradients. If the gradients are the same in each step,
// the formula holds for later steps as well.
absl::Status VerifyFirstUpdate(const std::vector<at::Tensor>& parameters,
                               AdamW& optimizer);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_VERIFICATION_VERIFICATION_H_
