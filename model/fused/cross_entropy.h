// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_FUSED_CROSS_ENTROPY_H_
#define TRAINBENCH_MODEL_FUSED_CROSS_ENTROPY_H_

#include <ATen/core/Tensor.h>

namespace trainbench {

// The mean over all positions of -log softmax(logits)[target]: logits [...,
// vocab], targets [...] (int64) -> an fp32 scalar, computed in fp32.
//
// If the logits need a gradient, the same pass overwrites them with it, and the
// backward pass returns it. So only one tensor is allocated, while textbook
// code holds the logits, their exponentials and their gradient at the same
// time. Move the logits in, and run the backward pass only once.
at::Tensor FusedCrossEntropy(at::Tensor logits, const at::Tensor& targets);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CROSS_ENTROPY_H_
