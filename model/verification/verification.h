// SPDX-License-Identifier: MIT
// Verifies a model's step before it is timed, at any size, in any precision.

#ifndef TRAINBENCH_MODEL_VERIFICATION_VERIFICATION_H_
#define TRAINBENCH_MODEL_VERIFICATION_VERIFICATION_H_

#include <ATen/core/Tensor.h>

#include <vector>

#include "absl/status/status.h"
#include "model/nn/transformer_lm.h"
#include "model/spec/precision.h"
#include "model/training/adamw.h"
#include "model/training/train_step.h"

namespace trainbench {

// Runs one step of `mode` on one short random sequence and compares
// - the logits with ReferenceLogits, by the norm of the difference;
// - the gradient g, as one vector over all parameters, with the slope of the
//   reference loss, (L(w + eps d) - L(w - eps d)) / (2 eps) = g.d, along a
//   random direction d from the default generator;
// - a first AdamW update of some tensors with
//   lr (g / (|g| + eps) + decay * w).
//
// `optimizer` is needed for kTrainStep and must not have stepped yet; it and
// the weights are one step further afterwards. FailedPrecondition gives the
// error and the limit in this precision.
absl::Status VerifyStep(StepMode mode, TransformerLm& model, AdamW* optimizer,
                        Precision precision);

// Relative error, in norm, of the model's logits against ReferenceLogits on one
// short random sequence.
double LogitsError(TransformerLm& model, Precision precision);

// Takes the first step of `optimizer` and compares the update of `parameters`
// with AdamW's formula for a first update in float64. `parameters` belong to
// the optimizer and have gradients. FailedPrecondition as above.
absl::Status VerifyFirstUpdate(const std::vector<at::Tensor>& parameters,
                               AdamW& optimizer);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_VERIFICATION_VERIFICATION_H_
