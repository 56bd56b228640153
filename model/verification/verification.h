// SPDX-License-Identifier: MIT
// Verifies a model's step before it is timed, and once more afterwards, at any
// size, in any precision.

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

// How else than by RunStep and ComputeGradients a step is run; null: by them.
struct StepFunctions {
  // tokens [batch, seq] -> logits [batch, seq, vocab]
  std::function<at::Tensor(const at::Tensor& tokens)> logits = nullptr;
  // Leaves the gradients in the parameters and returns the loss.
  std::function<at::Tensor(const Batch& batch)> gradients = nullptr;
};

// Runs one step of `mode` on random sequences of the timed shape, by which
// libraries choose their kernels, and compares
// - the logits of each sequence with ReferenceLogits, by the norm of the
//   difference;
// - the gradient g, as one vector over all parameters, with the slope of the
//   reference loss, (L(w + eps d) - L(w - eps d)) / (2 eps) = g.d, along a
//   random direction d from the default generator;
// - a first AdamW update of some tensors with
//   lr (g / (|g| + eps) + decay * w).
// Also proves that the matrix products are those of the precision
// (products.h).
//
// `optimizer` is needed for kTrainStep and must not have stepped yet; it and
// the weights are one step further afterwards. The errors are logits_error,
// gradient_error and update_error (spec/check_log.h), the last one in units of
// what rounding may do.
absl::Status VerifyStep(StepMode mode, TransformerLm& model, AdamW* optimizer,
                        Precision precision, const BatchShape& shape,
                        const StepFunctions& functions = {});

// For after the timing: runs one more step of `mode` on the batch that was
// timed, and compares what it returns with the float64 model of now: the logits
// of the last sequence, or the loss (loss_error). The loss may differ by as
// much as the logits, of 1 where it is smaller. A train step must also have
// moved the weights, unless each is so large that its dtype rounds the step
// away.
absl::Status VerifyOutput(StepMode mode, TransformerLm& model, AdamW* optimizer,
                          const Batch& batch, Precision precision);

// The same for a step that `run` makes in another way. It returns what RunStep
// returns.
absl::Status VerifyOutput(StepMode mode, const TransformerLm& model,
                          const Batch& batch, Precision precision,
                          const std::function<at::Tensor()>& run);

// Takes the first step of `optimizer` and compares the update of `parameters`
// with AdamW's formula for a first update in float64. `parameters` belong to
// the optimizer and have gradients. With the same gradients in each step the
// formula holds for later ones, too.
absl::Status VerifyFirstUpdate(const std::vector<at::Tensor>& parameters,
                               AdamW& optimizer);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_VERIFICATION_VERIFICATION_H_
