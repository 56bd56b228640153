// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_FUSED_CROSS_ENTROPY_H_
#define TRAINBENCH_MODEL_FUSED_CROSS_ENTROPY_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// The mean over all positions of -log softmax(logits)[target]: logits [...,
// vocab], targets [...] (int64) -> an fp32 scalar, computed in fp32.
//
// If the logits need a gradient, it is written over them in the same pass, and
// the backward pass hands it on. So of the logits, their exponentials and their
// gradient, which textbook code holds at once, there is one. Move the logits
// in, and run one backward pass.
at::Tensor FusedCrossEntropy(at::Tensor logits, const at::Tensor& targets);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CROSS_ENTROPY_H_
