// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_CROSS_ENTROPY_H_
#define TRAINBENCH_MODEL_NN_CROSS_ENTROPY_H_

#include <ATen/core/Tensor.h>

#include "model/spec/implementation.h"

namespace trainbench {

// Mean over all positions of -log softmax(logits)[target], computed in at least
// fp32 with the maximum subtracted.
// logits [..., vocab], targets [...] (int64) -> scalar.
// Move the logits in to free them after their last use: the fused
// implementation overwrites them (model/fused/cross_entropy.h).
at::Tensor CrossEntropy(
    at::Tensor logits, const at::Tensor& targets,
    Implementation implementation = Implementation::kTextbook);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_CROSS_ENTROPY_H_
