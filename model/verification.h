// SPDX-License-Identifier: MIT
// Is a model's step right? Asked before it is timed, at any size, in any
// precision: a fast wrong answer is worth nothing.

#ifndef TRAINBENCH_MODEL_VERIFICATION_H_
#define TRAINBENCH_MODEL_VERIFICATION_H_

#include <ATen/core/Tensor.h>

#include "absl/status/status.h"
#include "model/adamw.h"
#include "model/precision.h"
#include "model/train_step.h"
#include "model/transformer_lm.h"

namespace trainbench {

// Logits [batch, seq, vocab] in float64, computed from the model's weights one
// matrix at a time and by other operations than the model's: complex rotation,
// LibTorch's own softmax and silu, vector norms. If `along_gradient` is not 0,
// each weight w with gradient g counts as w + along_gradient * g.
at::Tensor ReferenceLogits(const TransformerLm& model, const at::Tensor& tokens,
                           double along_gradient = 0);

// Runs the parts of one step of `mode` on one short random sequence and
// compares
// - the logits with ReferenceLogits, by the norm of the difference;
// - the gradient g, as one vector over all parameters, with the slope of the
//   reference loss, (L(w + eps d) - L(w - eps d)) / (2 eps) = g.d, along a
//   random direction d from the default generator;
// - a first AdamW update with lr (g / (|g| + eps) + decay * w), on some
// tensors. `optimizer` is needed for kTrainStep and must not have stepped yet;
// it and the weights are one step further afterwards. FailedPrecondition gives
// the error and what is allowed in this precision.
absl::Status VerifyStep(StepMode mode, TransformerLm& model, AdamW* optimizer,
                        Precision precision);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_VERIFICATION_H_
