// SPDX-License-Identifier: MIT
// A slow float64 implementation of the language model, used as the reference.

#ifndef TRAINBENCH_MODEL_VERIFICATION_REFERENCE_H_
#define TRAINBENCH_MODEL_VERIFICATION_REFERENCE_H_

#include <ATen/core/Tensor.h>

#include "model/nn/transformer_lm.h"

namespace trainbench {

// Logits [batch, seq, vocab] in float64, computed from the model's weights one
// matrix at a time and with different operations: complex rotation, LibTorch's
// softmax and activations, vector norms. If `along_gradient` is not 0, each
// weight w with gradient g is replaced by w + along_gradient * g.
at::Tensor ReferenceLogits(const TransformerLm& model, const at::Tensor& tokens,
                           double along_gradient = 0);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_VERIFICATION_REFERENCE_H_
